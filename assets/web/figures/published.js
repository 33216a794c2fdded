// What papers report and what was measured here, in two blocks that share nothing. JSON in, text nodes out.

import { make, one } from '../base/dom.js';

/**
 * What one source reports, or what was measured here, as app/tabs/speedup/published.py writes it.
 * @typedef {{ text: string, url?: string | null }} Link
 * @typedef {string | number | null | Link} Cell
 * @typedef {{ kind: 'here' | 'published', title: string, source: string, note: string, columns: string[], rows: Cell[][] }} Block
 */

/** @param {Element} element @param {string} value */
export function publishedTables(element, value) {
  const data = JSON.parse(value || '{}'), root = one(element, '.sv-published');
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

/**
 * A table that scrolls within its frame.
 * @param {string[]} columns all empty for none
 * @param {Cell[][]} rows
 * @param {string} name for a screen reader
 */
export function dataTable(columns, rows, name) {
  const table = make('table'), top = make('tr');
  columns.forEach((column) => top.append(Object.assign(make('th', column), { scope: 'col' })));
  table.append(make('thead'), make('tbody'));
  if (columns.some(Boolean)) one(table, 'thead').append(top);
  rows.forEach((cells) => {
    const row = make('tr');
    cells.forEach((cell) => {
      const box = make('td');
      if (typeof cell === 'object' && cell?.url?.startsWith('https://')) {
        const link = Object.assign(make('a', cell.text), { href: cell.url, target: '_blank', rel: 'noopener noreferrer' });
        link.setAttribute('aria-label', `${cell.text}, opens the paper in a new tab`);
        box.append(link);
      } else box.textContent = cell === null ? '–' : String(cell);
      row.append(box);
    });
    table.tBodies[0].append(row);
  });
  const frame = make('div', '', 'sv-scroll');
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', name);
  frame.append(table);
  return frame;
}
