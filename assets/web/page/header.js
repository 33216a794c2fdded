// The title line, which is always there: presenting, the theme, and what one tab wants of another
// that was never opened.

import { subscribe } from '../base/bus.js';
import { query } from '../base/dom.js';
import { closedByEscape } from '../base/escape.js';
import { arrowsBySwipe, keepSliders, menu, onPage, present, presents } from '../base/page.js';
import { explainTerms } from '../base/terms.js';
import { followTabs, openTab } from './address.js';

const REST = 2000; // milliseconds after which a pointer no longer keeps the tabs in view

/** @param {{ element: HTMLElement }} host */
export function pageHeader({ element }) {
  const view = menu(query(element, '.sv-view'));
  const summary = query(view, 'summary');
  const theme = query(element, '.sv-theme-button');
  const { body } = document;
  const { classList } = document.documentElement;
  const mark = () => {
    summary.textContent = presents() ? '✕' : 'View';
    summary.setAttribute('aria-label', presents() ? 'Stop presenting' : 'View');
    summary.blur(); // space plays, as where the focus is nowhere
  };
  summary.onclick = (/** @type {MouseEvent} */ event) => {
    if (!presents()) return;
    event.preventDefault();
    present(false);
  };
  query(view, '.sv-present-button').onclick = () => {
    history.pushState(history.state, '', location.href); // Back ends it
    present(true);
    classList.add('sv-rests'); // the pointer is where the tabs will be
  };
  closedByEscape(element, 'page', () => {
    const wasPresented = presents();
    present(false);
    return wasPresented;
  });
  // A tab that was chosen would keep the keys of the picture, and the tabs over it.
  onPage(element, 'click', ({ target }) => {
    if (presents()) target.closest?.('[role=tab], .sv-lessons-list button')?.blur();
    if (!target.closest?.('.sv-tabs')) query(element, '.sv-tabs').open = false;
  });
  let resting = 0;
  onPage(element, 'pointermove', () => {
    clearTimeout(resting);
    classList.remove('sv-rests');
    resting = setTimeout(() => classList.add('sv-rests'), REST);
  });
  onPage(element, 'fullscreenchange', () => {
    if (!document.fullscreenElement) present(false);
  });
  const upright = '(max-width: 760px), (hover: none) and (orientation: portrait)';
  onPage(element, 'change', () => present(false), matchMedia(upright)); // as page/style.css has it
  const dark = () => theme.setAttribute('aria-pressed', body.classList.contains('dark'));
  theme.onclick = () => body.classList.toggle('dark');
  new MutationObserver(dark).observe(body, { attributeFilter: ['class'] });
  dark();
  new MutationObserver(mark).observe(document.documentElement, { attributeFilter: ['id'] });
  keepSliders(element);
  arrowsBySwipe(element);
  explainTerms(element);
  followTabs();
  subscribe('open-tab', element, openTab);
}
