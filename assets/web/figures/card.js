// The words of a figure and the status line: JSON in, text nodes out. Nothing here is ever parsed
// as markup.

import { publish } from '../base/bus.js';
import { button, downloadFile, query } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { presents } from '../base/page.js';
import { termed } from '../base/terms.js';

/**
 * A file to download: the word on its button, its name and its text.
 * @typedef {{ label: string, name: string, text: string }} File
 */

/** @param {Element} element @param {string} value what app/tabs/parts/card.py fills a card with */
export function figureCard(element, value) {
  const card = JSON.parse(value);
  const find = (/** @type {string} */ selector) => query(element, selector);
  find('h2').textContent = card.title;
  find('.sv-answer').textContent = card.answer;
  find('.sv-source').textContent = card.source.label;
  find('.sv-source').dataset.kind = card.source.kind;
  find('.sv-read').replaceChildren(...termed(card.read));
  find('.sv-files').replaceChildren(downloadButton(card.file, card.title));
}

/**
 * The figures of a tab. Presented, each fills the screen, and keys go to the next one.
 * @param {Element} element of a card
 */
export function figureKeys(element) {
  const figures = /** @type {HTMLElement} */ (element.closest('.sv-figures'));
  if (figures.querySelector('.sv-card') !== element.querySelector('.sv-card')) return; // once
  const turn = (/** @type {number} */ by) => () => figures.scrollBy(0, by * figures.clientHeight);
  const acts = {
    ' ': turn(1),
    ArrowRight: turn(1),
    PageDown: turn(1),
    ArrowLeft: turn(-1),
    PageUp: turn(-1),
  };
  keys(figures, () => (presents() ? acts : {}));
}

/**
 * Plotly draws again when the window changes, not when a tab that was hidden meanwhile, or the
 * page's type, changes the width of a figure.
 * @param {Element} element of a card
 */
export function keepsWidth(element) {
  const column = /** @type {Element} */ (element.closest('.sv-figure'));
  let width = 0;
  new ResizeObserver(() => {
    const now = column.clientWidth; // 0 while it is hidden
    if (now && now !== width) window.dispatchEvent(new Event('resize'));
    width = now;
  }).observe(column);
}

/** @param {File} file @param {string} title of the figure */
function downloadButton(file, title) {
  const control = button(file.label, () =>
    downloadFile(file.name, new Blob([file.text], { type: 'application/octet-stream' })),
  );
  control.setAttribute('aria-label', `Download ${file.label} of: ${title}`);
  return control;
}

/** @param {Element} element @param {string} value what `said` of app/tabs/parts/card.py writes */
export function statusLine(element, value) {
  const status = JSON.parse(value || '{}'),
    line = query(element, '.sv-notice');
  line.dataset.kind = status.kind || (status.text ? 'note' : '');
  line.querySelector('.text').textContent = status.text || '';
  const bar = /** @type {HTMLProgressElement | null} */ (element.querySelector('.sv-progress'));
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
  control.onclick = fix ? () => publish('opened', { search: fix.search, why: 'fix' }) : null;
}
