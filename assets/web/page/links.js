// The link of a tab: asks the server what the address of the page stands for, where it has
// parameters, and copies the link of what the controls hold now. Text only ever becomes text nodes.

import { subscribe } from '../base/bus.js';
import { query } from '../base/dom.js';
import { FIRST } from './address.js';
import { checkSumOf } from '../stage/share.js';

/**
 * Shows what the server answers.
 * @param {Element} element
 * @param {{ tab: string, others: string[], old: Record<string, string> }} about `others` are
 *   parameters that mean another tab, `old` the former names of tabs
 * @param {(event: 'click' | 'select', data?: { search: string, opened?: string }) => void} trigger
 */
export function linkBar(element, { tab, others, old }, trigger) {
  const line = query(element, '.sv-notice'),
    request = new URLSearchParams(location.search);
  query(element, '.sv-link-copy').onclick = () => trigger('click');

  /** @param {string} value */
  async function show(value) {
    const { kind = '', text = '', query: settings } = JSON.parse(value || '{}');
    line.dataset.kind = kind;
    line.classList.toggle('urgent', kind !== '');
    if (kind === 'link' && computed) {
      computed = '';
      // the controls hold the settings of the link by now
      document.getElementById(tab === FIRST ? 'sv-run' : 'sv-compare-run')?.click();
    }
    const isCopied = settings !== undefined;
    line.classList.toggle('copied', isCopied);
    line.querySelector('.text').textContent = isCopied ? await copy(settings) : text;
    if (isCopied) setTimeout(() => line.matches('.copied') && (line.dataset.kind = ''), 6000);
  }

  /** @param {string} settings */
  async function copy(settings) {
    const link = new URL(location.href);
    link.search = (tab === FIRST ? '' : `tab=${encodeURIComponent(tab)}&`) + settings;
    history.replaceState(history.state, '', link);
    // no permission, or no secure context
    const copied = await navigator.clipboard?.writeText(link.href).then(
      () => true,
      () => false,
    );
    return copied ? 'Link copied.' : `The link could not be copied: ${link.href}`;
  }

  /** @param {string} name */
  const isParameter = name =>
    !name.startsWith('__') && !others.includes(name);
  const name = (request.get('tab') || FIRST).toLowerCase(),
    meant = (old[name] || name) === tab && !request.has('lesson');
  let computed = ''; // why what the link is about is computed at once
  if (meant && tab === FIRST && checkSumOf(location.search) !== null) computed = 'shared';
  if (meant && tab === 'compare' && request.has('again')) computed = 'again';
  if (meant && [...request.keys()].some(isParameter))
    trigger('select', { search: location.search, opened: computed });
  if (tab === FIRST)
    subscribe('opened', element, ({ search, why = 'run' }) =>
      trigger('select', { search, opened: why }),
    );
  return show;
}
