// Two rules on the same distributions, token after token, with a counter of the mistakes that each of them repeats.

import { make } from '../base/dom.js';

const SHOWN = 7; // tokens that stay on the screen
const MARKS = /** @type {Record<string, string>} */ ({ accepted: '■', rejected: '✕', repeated: '✕✕' });
const WORDS = /** @type {Record<string, string>} */ ({ accepted: 'accepted', rejected: 'rejected', repeated: 'rejected again' });

/**
 * @typedef {{ title: string, drawn: string, counts: [number, number, number][], tries: [string, string][][] }} Column
 * @typedef {{ texts: string[], columns: Column[] }} Mistakes
 */

/** @type {import('./view.js').View} */
export function mistakesView(picture) {
  return (/** @type {Mistakes} */ data, step, moved) => {
    picture.replaceChildren(...data.columns.map(column => {
      const box = make('section'), [again, rejected, lost] = column.counts[step], list = make('ol');
      const counter = make('p', '', 'sv-mistakes-count'), more = again > (column.counts[step - 1]?.[0] ?? 0);
      counter.append(make('b', again), again === 1 ? ' mistake made twice' : ' mistakes made twice');
      counter.classList.toggle('more', more && moved);
      for (let at = Math.max(0, step - SHOWN + 1); at <= step; at++) list.append(line(data.texts[at], column.tries[at], at === step));
      box.append(make('h3', column.title), make('p', `Children ${column.drawn}.`, 'sv-mistakes-drawn'), counter,
        make('p', `${rejected} rejected in all; at ${lost} of ${step + 1} tokens none was accepted`, 'sv-mistakes-more'), list);
      return box;
    }));
  };
}

/** @param {string} text what the target's text has there @param {[string, string][]} tries @param {boolean} now */
function line(text, tries, now) {
  const row = make('li', '', now ? 'now' : ''), chips = make('span', '', 'sv-mistakes-tries');
  chips.append(...tries.map(([piece, outcome]) => {
    const chip = make('span', '', outcome);
    chip.append(make('b', MARKS[outcome]), make('code', seen(piece)), make('small', ` ${WORDS[outcome]}`));
    chip.title = WORDS[outcome];
    return chip;
  }));
  row.append(make('code', seen(text)), chips);
  return row;
}

/** @param {string} piece */
const seen = piece => piece.replace(/\n/g, '↵').trim() || '␣';
