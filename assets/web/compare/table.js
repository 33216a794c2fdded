// The runs of a comparison in numbers, and where their texts part, as the server writes both.

import { finder, make, query } from '../base/dom.js';
import { termed } from '../base/terms.js';
import { visible } from '../base/text.js';
import { lookOf, runName } from './tokens_over_time.js';

/** @typedef {import('./column.js').Column} Column */

/** @param {HTMLElement} root @param {Column[]} columns @param {import('./types.js').Row[]} rows */
export function writeTable(root, columns, rows) {
  const titles = columns.map(({ about }) =>
    make('th', runName(about), { class: lookOf(about), scope: 'col' }),
  );
  const lines = rows.map(({ name, cells }) => {
    const first = make('th', termed(name), { scope: 'row' });
    const values = cells.map(([value, note]) => make('td', [value, make('small', note)]));
    return make('tr', [first, ...values]);
  });
  finder(root)('table').hidden = !rows.length;
  query(root, 'thead').replaceChildren(make('tr', [make('td'), ...titles]));
  query(root, 'tbody').replaceChildren(...lines);
}

/**
 * A line for each remark, and a mark on the first token that differs.
 * @param {HTMLElement} root
 * @param {Column[]} columns
 * @param {import('./types.js').Remark[]} remarks
 */
export function writeTexts(root, columns, remarks) {
  const $ = finder(root);
  // said once, however many texts it explains
  $('texts-why').textContent = [...new Set(remarks.map(({ why }) => why))].join(' ');
  const lines = remarks.map(({ letters, text, position }) => {
    if (position === null) return make('li', text);
    const pieces = columns
      .filter(({ about }) => letters.includes(about.letter))
      .map(({ about, spans }) => {
        const token = spans.flat()[position]; // none where the text ended before
        token?.classList.add('differs');
        return `${about.letter} “${visible(token?.textContent ?? '')}”`;
      });
    return make('li', `${text} ${pieces.join(', ')}`);
  });
  $('texts').replaceChildren(...lines);
}
