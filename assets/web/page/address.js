// The tab in the address of the page: choosing one makes an entry of the history, so that Back
// returns to the one before.

import { queryAll } from '../base/dom.js';

export const FIRST = 'explore'; // the tab of an address that names none

/** The name of a tab in links. @param {Element} tab */
const nameOf = tab => (tab.textContent ?? '').trim().toLowerCase();

/** The address that opens a tab. @param {string} name */
function addressOf(name) {
  const address = new URL(location.href);
  address.search = name === FIRST ? '' : `?tab=${encodeURIComponent(name)}`;
  return address;
}

/** Does what a click on a tab does. @param {string} name as in links */
export function openTab(name) {
  queryAll(document, '[role=tab]')
    .find(tab => nameOf(tab) === name)
    ?.click();
}

/** As long as the page is there. */
export function followTabs() {
  let isReturning = false; // the browser goes back or forward

  document.addEventListener(
    'click',
    ({ target }) => {
      const tab = /** @type {Element} */ (target).closest?.('[role=tab]');
      if (!tab || isReturning || tab.getAttribute('aria-selected') === 'true') return;
      history.pushState(history.state, '', addressOf(nameOf(tab)));
    },
    true,
  );

  document.addEventListener('keydown', ({ target, key }) => {
    const tab = /** @type {Element} */ (target).closest?.('[role=tab]');
    const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!tab || !by) return;
    const tabs = queryAll(document, '[role=tab]').filter(one => one.getClientRects().length > 0);
    tabs.at((tabs.indexOf(tab) + by) % tabs.length).focus();
  });

  addEventListener('popstate', () => {
    const parameters = new URLSearchParams(location.search);
    const name = parameters.has('lesson') ? 'lessons' : (parameters.get('tab') ?? FIRST);
    isReturning = true;
    openTab(name.toLowerCase());
    isReturning = false;
  });
}
