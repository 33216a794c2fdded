// Tables that scroll sideways: text, numbers in short, and links that leave the page. What papers report and what was
// measured here are such tables, in two blocks that share nothing. JSON in, text nodes out.

import { make, query } from '../base/dom.js';

/**
 * @typedef {{ text: string, url?: string | null }} Link
 * @typedef {string | number | boolean | null | Link | HTMLElement} Cell
 */

/**
 * @param {readonly string[]} columns all empty for none
 * @param {readonly (readonly Cell[])[]} rows
 * @param {string} name of the region that scrolls
 */
export function dataTable(columns, rows, name) {
  const table = make('table'), head = make('thead'), body = make('tbody'), top = make('tr');
  columns.forEach(column => top.append(Object.assign(make('th', column), { scope: 'col' })));
  if (columns.some(Boolean)) head.append(top);
  rows.forEach(cells => {
    const row = make('tr');
    row.append(...cells.map(written));
    body.append(row);
  });
  table.append(head, body);
  const frame = make('div', '', 'sv-scroll');
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', name);
  frame.append(table);
  return frame;
}

/** @param {Cell} cell */
function written(cell) {
  const box = make('td');
  if (cell instanceof window.Node) box.append(cell);
  else if (cell !== null && typeof cell === 'object') {
    if (!cell.url?.startsWith('https://')) return make('td', cell.text);
    const link = Object.assign(make('a', cell.text), { href: cell.url, target: '_blank', rel: 'noopener noreferrer' });
    link.setAttribute('aria-label', `${cell.text}, opens the paper in a new tab`);
    box.append(link);
  } else {
    box.textContent = cell === null ? '–' : typeof cell === 'number' ? short(cell) : String(cell);
    if (/^[-\d(.,]+( |$)/.test(box.textContent)) box.className = 'number';
  }
  return box;
}

/** A number with four digits. @param {number} value */
export function short(value) {
  const small = value !== 0 && Math.abs(value) < 1e-4;
  return small ? value.toExponential(1) : Number(value.toPrecision(4)).toLocaleString('en', { maximumSignificantDigits: 4 });
}

/**
 * What one source reports, or what was measured here, as app/tabs/speedup/published.py writes it.
 * @typedef {{ kind: 'here' | 'published', title: string, source: string, note: string, columns: string[], rows: Cell[][] }} Block
 */

/** @param {Element} element @param {string} value */
export function publishedTables(element, value) {
  const data = JSON.parse(value || '{}'), root = query(element, '.sv-published');
  if (!data.blocks) return;
  root.replaceChildren(...data.blocks.map(publishedBlock));
}

/** @param {Block} block */
function publishedBlock(block) {
  const section = make('section', '', 'sv-block');
  section.dataset.kind = block.kind;
  const head = make('h3', block.title);
  if (block.source) head.append(make('span', block.source, 'sv-source'));
  section.append(head, make('p', block.note));
  if (block.rows.length) section.append(dataTable(block.columns, block.rows, block.title));
  return section;
}
