// Where the texts of a comparison part: a line for each pair of runs, and a mark on the first token that differs.

import { button, finder, make } from '../base/dom.js';
import { visible } from '../base/text.js';

/** @typedef {import('./column.js').Column} Column */
/** @typedef {import('./types.js').Pair} Pair */

/** @param {Column} column @param {number} position */
const pieceAt = (column, position) => visible(column.spans.flat()[position]?.textContent || '');

/**
 * @param {HTMLElement} root
 * @param {Column[]} columns
 * @param {Pair[]} pairs
 * @param {(seconds: number) => void} show the time at which both texts are that far
 */
export function writeTexts(root, columns, pairs, show) {
  const $ = finder(root), reasons = [...new Set(pairs.map(pair => pair.why).filter(Boolean))]; // said once, however many texts they explain
  $('texts-why').textContent = reasons.join(' ');
  $('texts').replaceChildren(...pairs.map(pair => {
    const line = make('li');
    line.dataset.kind = pair.kind;
    line.dataset.pair = `${pair.a}${pair.b}`;
    line.append(make('span', pair.text));
    const { position } = pair;
    if (position === null) return line;
    const both = columns.filter(({ about }) => about.letter === pair.a || about.letter === pair.b);
    const [one, other] = both.map(column => pieceAt(column, position));
    const shows = button('Show', () => show(Math.max(...both.map(column => column.ends[column.totals.findIndex(total => total > position)]))));
    shows.setAttribute('aria-label', `show where ${pair.a} and ${pair.b} differ`);
    line.append(make('span', ` ${pair.a} “${one}”, ${pair.b} “${other}” `, 'sv-apart'), shows);
    return line;
  }));
  for (const column of columns) markDifferences(column, pairs);
}

/** @param {Column} column @param {Pair[]} pairs */
function markDifferences({ about: { letter }, spans, box }, pairs) {
  const tokens = spans.flat(), found = /** @type {Map<number, string[]>} */ (new Map());
  for (const { a, b, position } of pairs) {
    if (position === null || (a !== letter && b !== letter)) continue;
    found.set(position, [...found.get(position) || [], a === letter ? b : a]);
  }
  for (const span of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll('.differs'))) {
    if (!found.has(tokens.indexOf(span))) span.classList.remove('differs');
  }
  for (const [position, letters] of found) {
    tokens[position].classList.add('differs');
    tokens[position].dataset.differs = `≠${letters.join('')}`;
    tokens[position].title = `first token that differs from ${letters.join(' and ')}`;
  }
}
