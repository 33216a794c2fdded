// The runs of a comparison in numbers, and where the time of a token went.

import { finder, make, query } from '../base/dom.js';
import { termed } from '../base/terms.js';
import { PARTS } from '../base/words.js';
import { differ, rightOf, titleOf } from '../tree/sources.js';
import { raceKey } from './tokens_over_time.js';

/** @typedef {import('./types.js').About} About */
/** @typedef {import('../base/types.js').Figures} Figures */
/** @typedef {{ about: About, figures: Figures, speedup: number | null, paired: import('../base/types.js').PairedSpeedup | null, guessed: import('../base/types.js').Guesses }} Ran a run that has figures */
/** @typedef {'tokens' | 'per_pass' | 'acceptance' | 'token_ms' | 'rate'} Key */

/** @type {[string, Key, (value: number, f: Figures) => string, ((f: Figures) => string)?][]} name, key, what is written, and a note below it */
const FIGURES = [
  ['tokens written', 'tokens', (tokens, { passes }) => `${tokens} in ${passes} ${passes === 1 ? 'pass' : 'passes'}`],
  ['tokens per target pass', 'per_pass', value => value.toFixed(2)],
  ['acceptance rate', 'acceptance', share => `${Math.round(100 * share)} %`, f => `${f.accepted} of ${f.compared} compared`],
  ['milliseconds per token', 'token_ms', value => value.toFixed(2)],
  ['tokens per second', 'rate', rate => rate.toFixed(rate < 100 ? 1 : 0)],
];

/** @param {HTMLElement} root @param {import('./column.js').Column[]} columns */
export function writeTable(root, columns) {
  const ran = columns.flatMap(({ about, figures, speedup, paired, guessed }) => (figures ? [{ about, figures, speedup, paired, guessed }] : []));
  const rows = FIGURES.map(([name, key, write, note]) => row(name, ran.map(({ about, figures }) => {
    const value = figures[key];
    return value === null ? cell(about, key, '–') : cell(about, key, write(value, figures), note?.(figures));
  })));
  if (ran.some(({ about, speedup, paired }) => paired || (about.plain && speedup))) {
    rows.push(row('speedup vs. plain decoding', ran.map(({ about, speedup, paired }) => {
      const value = paired?.speedup ?? speedup;
      return cell(about, 'speedup', value ? `${value.toFixed(2)}×` : '–',
        paired ? `${paired.low.toFixed(2)} to ${paired.high.toFixed(2)} in ${paired.rounds} rounds` : about.plain ? '' : 'one run each');
    })));
  }
  if (ran.some(column => differ(column.guessed))) rows.push(row('accepted by drafter', ran.map(({ about, figures, guessed }) => {
    const told = make('td');
    told.dataset.figure = 'right';
    told.dataset.letter = about.letter;
    told.append(...[...guessed.keys()].map(name => make('small', `${titleOf(name)}: ${rightOf(figures.drafters[name])}`)));
    return told;
  })));
  const longest = Math.max(...ran.map(({ figures }) => figures.token_ms || 0));
  rows.push(row('time per token', ran.map(({ figures }) => timeBar(figures, longest))));
  rows.push(row('time per step', ran.map(({ about, figures }) => cell(about, 'step_ms', figures.step_ms ? `${figures.step_ms.toFixed(1)} ms` : '–',
    figures.step_ms ? PARTS.map((part, i) => `${part} ${Number(figures.step_parts[i]).toFixed(1)}`).join(' · ') : ''))));
  finder(root)('table').hidden = !ran.length;
  query(root, 'thead').replaceChildren(head(ran));
  query(root, 'tbody').replaceChildren(...rows);
}

/** @param {Ran[]} ran */
function head(ran) {
  const made = make('tr');
  made.append(make('td'), ...ran.map(({ about }) => {
    const name = make('th', '', `sv-run-${about.letter}`);
    name.scope = 'col';
    name.append(raceKey(about.letter), make('b', about.letter), about.title);
    return name;
  }));
  return made;
}

/** @param {string} name @param {HTMLElement[]} cells */
function row(name, cells) {
  const made = make('tr'), first = make('th');
  first.append(...termed(name));
  first.scope = 'row';
  made.append(first, ...cells);
  return made;
}

/** @param {About} about @param {string} figure @param {string} value @param {string} [note] */
function cell({ letter }, figure, value, note) {
  const made = make('td', value);
  made.dataset.figure = figure;
  made.dataset.letter = letter;
  if (note) made.append(make('small', note));
  return made;
}

/** @param {Figures} figures @param {number} longest milliseconds a token */
function timeBar({ token_ms: total, token_parts: parts }, longest) {
  const made = make('td'), line = make('span', '', 'sv-time-bar');
  line.setAttribute('role', 'img');
  line.setAttribute('aria-label', total ? PARTS.map((part, i) => `${part} ${Number(parts[i]).toFixed(2)} ms`).join(', ') : 'not known');
  line.append(...PARTS.map((part, i) => {
    const piece = make('i', '', part);
    piece.style.width = total ? `${100 * Number(parts[i]) / longest}%` : '0';
    return piece;
  }));
  made.append(line);
  return made;
}
