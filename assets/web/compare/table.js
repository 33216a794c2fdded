// The runs of a comparison in numbers, and where their texts part, as the server writes both.

import { button, finder, make, query, queryAll } from '../base/dom.js';
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
    const values = cells.map(([value, note]) =>
      make('td', note ? [value, make('small', note)] : value),
    );
    return make('tr', [first, ...values]);
  });
  finder(root)('table').hidden = !rows.length;
  query(root, 'thead').replaceChildren(make('tr', [make('td'), ...titles]));
  query(root, 'tbody').replaceChildren(...lines);
}

/**
 * A line for each pair of runs, and a mark on the first token that differs.
 * @param {HTMLElement} root
 * @param {Column[]} columns
 * @param {import('./types.js').Pair[]} pairs
 * @param {(seconds: number) => void} show the time at which both texts are that far
 */
export function writeTexts(root, columns, pairs, show) {
  const $ = finder(root);
  // said once, however many texts it explains
  $('texts-why').textContent = [...new Set(pairs.map(pair => pair.why).filter(Boolean))].join(' ');
  for (const span of queryAll(root, '.differs')) span.classList.remove('differs');
  $('texts').replaceChildren(
    ...pairs.map(({ a, b, kind, text, position }) => {
      const line = make('li', text, { 'data-kind': kind });
      if (position === null) return line;
      const both = columns.filter(({ about }) => about.letter === a || about.letter === b);
      const tokens = both.map(column => column.spans.flat()[position]);
      const [one, other] = tokens.map(token => visible(token?.textContent || ''));
      tokens.forEach(token => token?.classList.add('differs'));
      const times = both.map(
        ({ ends, totals }) => ends[totals.findIndex(total => total > position)],
      );
      const shows = button('Show', () => show(Math.max(...times)), {
        'aria-label': `show where ${a} and ${b} differ`,
      });
      line.append(make('span', ` ${a} “${one}”, ${b} “${other}” `, 'sv-apart'), shows);
      return line;
    }),
  );
}
