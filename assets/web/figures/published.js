// What papers report and what was measured here, in two blocks that share nothing. JSON in, text nodes out.

import { make, one } from '../base/dom.js';
import { dataTable } from './table.js';

/**
 * What one source reports, or what was measured here, as app/tabs/speedup/published.py writes it.
 * @typedef {{ kind: 'here' | 'published', title: string, source: string, note: string, columns: string[], rows: import('./table.js').Cell[][] }} Block
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
