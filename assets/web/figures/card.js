// The words of a figure and the status line: JSON in, text nodes out. Nothing here is ever parsed
// as markup.

import { publish } from '../base/bus.js';
import { button, downloadFile, finder, query, queryAll } from '../base/dom.js';
import { turnsPages } from '../base/page.js';
import { termed } from '../base/terms.js';

// Kinds of notices that are shown; the others are for whoever asks.
const URGENT = ['error', 'impossible', 'lossy'];

/** @param {Element} element @param {string} value what app/tabs/parts/card.py fills a card with */
export function figureCard(element, value) {
  const card = JSON.parse(value);
  const $ = finder(element);
  query(element, 'h2').textContent = card.title;
  $('answer').textContent = card.answer;
  $('source').textContent = card.source;
  const save = button('Save as CSV', () => downloadFile(card.file, card.table), 'sv-plain');
  $('read').replaceChildren(...termed(`${card.read} `), save);
}

/**
 * All figures of a tab, once. Plotly draws again when the window changes, not when their tab was
 * hidden meanwhile or when type changes their width. Presented, each fills the screen, and keys go
 * to the next one.
 * @param {Element} element of a card
 */
export function figurePages(element) {
  const figures = /** @type {HTMLElement} */ (element.closest('.sv-figures'));
  if (!element.contains(figures.querySelector('.sv-card'))) return; // not the first card
  let width = 0;
  new ResizeObserver(() => {
    const now = figures.clientWidth; // 0 while it is hidden
    if (now && now !== width) window.dispatchEvent(new Event('resize'));
    width = now;
  }).observe(figures);
  turnsPages(figures);
  for (const link of queryAll(document, '.sv-measure-list a')) {
    link.onclick = (/** @type {Event} */ event) => {
      event.preventDefault(); // gradio's base address makes a fragment another page
      query(document, link.hash).scrollIntoView();
    };
  }
}

/** @param {Element} element @param {any} status what app/tabs/parts/card.py writes */
export function statusLine(element, status) {
  const line = query(element, '.sv-notice');
  line.dataset.kind = status.kind || (status.text ? 'note' : '');
  line.classList.toggle('urgent', URGENT.includes(status.kind));
  line.querySelector('.text').textContent = status.text || '';
  /** @type {HTMLProgressElement | null} */
  const bar = element.querySelector('.sv-progress');
  if (!bar) return;
  bar.hidden = !status.of;
  bar.max = status.of || 1;
  bar.value = status.done || 0;
}

/**
 * The button of a notice that sets the controls so that they work.
 * @param {Element} element
 * @param {{ label: string, search: string } | null | undefined} fix
 */
export function fixButton(element, fix) {
  const control = query(element, '.sv-fix');
  control.hidden = !fix;
  control.textContent = fix?.label ?? '';
  control.onclick = fix ? () => publish('opened', { search: fix.search }) : null;
}
