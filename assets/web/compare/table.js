// The runs of a comparison in numbers, and where the time of a token went.

import { finder, make, one } from '../base/dom.js';
import { PARTS } from '../base/words.js';
import { differ, rightOf, titleOf } from '../tree/sources.js';
import { raceKey } from './race.js';

/** @type {[string, string, (f: any) => string, ((f: any) => string)?][]} name, key, what is written, and a note below it */
const FIGURES = [
  ['tokens written', 'tokens', f => `${f.tokens} in ${f.passes} ${f.passes === 1 ? 'pass' : 'passes'}`],
  ['tokens per pass', 'per_pass', f => f.per_pass.toFixed(2)],
  ['acceptance', 'acceptance', f => `${Math.round(100 * f.acceptance)} %`, f => `${f.accepted} of ${f.compared} compared`],
  ['milliseconds per token', 'token_ms', f => f.token_ms.toFixed(2)],
  ['tokens per second', 'rate', f => f.rate.toFixed(f.rate < 100 ? 1 : 0)],
];

/** @param {HTMLElement} root @param {any[]} columns */
export function writeTable(root, columns) {
  const ran = columns.filter(column => column.figures), plain = ran.find(column => column.about.plain && column.figures.rate);
  const rows = FIGURES.map(([name, key, write, note]) => row(name, ran.map(({ about, figures }) =>
    (figures[key] === null ? cell(about, key, '–') : cell(about, key, write(figures), note && note(figures))))));
  if (plain && ran.length > 1) {
    rows.push(row('against plain decoding', ran.map(({ about, figures }) =>
      cell(about, 'speedup', figures.rate ? `${(figures.rate / plain.figures.rate).toFixed(2)}×` : '–'))));
  }
  if (ran.some(column => differ(column.guessed))) rows.push(row('who was right', ran.map(({ about, guessed }) => {
    const told = make('td');
    told.dataset.figure = 'right';
    told.dataset.letter = about.letter;
    told.append(...[...guessed].map(([name, count]) => make('small', `${titleOf(name)}: ${rightOf(count)}`)));
    return told;
  })));
  const longest = Math.max(...ran.map(({ figures }) => figures.token_ms || 0));
  rows.push(row('where a token’s time goes', ran.map(({ figures }) => timeBar(figures, longest))));
  rows.push(row('a step takes', ran.map(({ about, figures }) => cell(about, 'step_ms', figures.step_ms ? `${figures.step_ms.toFixed(1)} ms` : '–',
    figures.step_ms && PARTS.map((part, i) => `${part} ${figures.step_parts[i].toFixed(1)}`).join(' · ')))));
  finder(root)('table').hidden = !ran.length;
  one(root, 'thead').replaceChildren(head(ran));
  one(root, 'tbody').replaceChildren(...rows);
}

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

function row(name, cells) {
  const made = make('tr'), first = make('th', name);
  first.scope = 'row';
  made.append(first, ...cells);
  return made;
}

function cell({ letter }, figure, value, note) {
  const made = make('td', value);
  made.dataset.figure = figure;
  made.dataset.letter = letter;
  if (note) made.append(make('small', note));
  return made;
}

function timeBar({ token_ms: total, token_parts: parts }, longest) {
  const made = make('td'), line = make('span', '', 'sv-time-bar');
  line.setAttribute('role', 'img');
  line.setAttribute('aria-label', total ? PARTS.map((part, i) => `${part} ${parts[i].toFixed(2)} ms`).join(', ') : 'not known');
  line.append(...PARTS.map((part, i) => {
    const piece = make('i', '', part);
    piece.style.width = total ? `${100 * parts[i] / longest}%` : '0';
    return piece;
  }));
  made.append(line);
  return made;
}
