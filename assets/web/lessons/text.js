// The text of a lesson as elements: paragraphs, tables, terms that explain themselves. Text only
// becomes text nodes.

import { make } from '../base/dom.js';
import { termed } from '../base/terms.js';

/** @typedef {import('./types.js').Block} Block */
/** @typedef {import('./types.js').Span} Span */

/** @param {Span} span @returns {(Node | string)[]} */
function written([text, kind]) {
  if (kind.startsWith('?')) return [Object.assign(make('a', text), { href: kind })];
  if (kind === 'strong' || kind === 'em') return [make(kind, text)];
  return termed(text);
}

/** @param {Span[]} spans */
const inline = spans => spans.flatMap(written);

/** @param {Block} block */
function element({ spans, rows = [] }) {
  if (spans) {
    const line = make('p');
    line.append(...inline(spans));
    return line;
  }
  const table = make('table'),
    head = make('thead'),
    body = make('tbody');
  rows.forEach((row, i) => {
    const line = make('tr');
    line.append(
      ...row.map((cell, j) => {
        const item = make(i && j ? 'td' : 'th');
        item.append(...inline(cell));
        return item;
      }),
    );
    (i ? body : head).append(line);
  });
  table.append(head, body);
  return table;
}

/** @param {HTMLElement} parent @param {Block[]} blocks */
export function writeBlocks(parent, blocks) {
  parent.replaceChildren(...blocks.map(element));
}
