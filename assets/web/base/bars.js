// The one table of bars: a row for each thing, a column of numbers for each series, and all numbers
// of a row as bars.

import { make } from './dom.js';
import { probability } from './text.js';

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {string} [kind] its class, which gives it a colour
 * @property {boolean} [mark] drawn as a line across the bars instead of as a bar
 */
/**
 * @typedef {object} Row
 * @property {string} name
 * @property {(number | null)[]} values one a series; null or too few where there is none
 * @property {string} [kind] "own" marks the row in question, "rest" stands for all others
 */

/** Places on a logarithmic scale from the least to the largest. @param {number[]} values */
export function logPlace(values) {
  const logs = values.filter(value => value > 0).map(Math.log);
  const low = Math.min(...logs);
  const span = Math.max(...logs) - low || 1;
  return (/** @type {number} */ value) => (Math.log(value) - low) / span;
}

/**
 * @param {object} content
 * @param {string} [content.caption]
 * @param {Series[]} content.series
 * @param {Row[]} content.rows
 * @param {(value: number) => string} [content.write]
 * @param {(value: number) => number} [content.place] a value -> 0 to 1 along the bar; the largest
 *   value fills it by default
 * @returns {HTMLTableElement}
 */
export function barTable({ caption = '', series, rows, write = probability, place }) {
  const max = Math.max(1e-9, ...rows.flatMap(({ values }) => values.map(value => value ?? 0)));
  const along = place ?? (value => value / max);
  const titles = series.map(({ name, kind = '', mark }) =>
    make('th', name, { class: mark ? `${kind} mark` : kind, scope: 'col' }),
  );
  const lines = rows.map(({ name, values, kind = '' }) => {
    const title = make('th', name, { scope: 'row' });
    const track = make('div');
    series.forEach(({ kind: of = '', mark }, i) => {
      const value = values[i] ?? null;
      const bar = make(mark ? 'em' : 'i', '', of);
      if (value === null || (!value && !mark)) return; // 0 is no bar
      bar.style[mark ? 'left' : 'width'] = `${100 * Math.min(1, Math.max(0, along(value)))}%`;
      track.append(bar);
    });
    const numbers = series.map((_, i) => {
      const value = values[i] ?? null;
      return make('td', value === null ? '–' : write(value));
    });
    return make('tr', [title, make('td', [track], 'drawn'), ...numbers], kind);
  });
  const head = make('thead', [make('tr', [make('td'), make('td'), ...titles])]);
  const parts = [head, make('tbody', lines)];
  return make('table', caption ? [make('caption', caption), ...parts] : parts, 'sv-bars');
}
