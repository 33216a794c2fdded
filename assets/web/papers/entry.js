// An entry as a card: what the source says on the left, what was measured here on the right, and the sentence below.

import { make } from '../base/dom.js';
import { lineChart } from './chart.js';

/** @type {Record<import('./types.js').State, string>} */
export const MARKS = { reproduced: '✓', differs: '≠', 'not reproducible': '–' };

/**
 * An entry as a card.
 * @param {import('./types.js').Entry} entry
 * @param {string} source the name of its source
 * @param {import('./types.js').Running | null} running what is being measured
 * @param {() => void} start measures it again
 */
export function entryCard(entry, source, running, start) {
  const box = make('article', '', 'sv-entry');
  box.dataset.name = entry.name;
  box.dataset.state = entry.status;
  const head = make('h3');
  const mark = make('span', MARKS[entry.status], 'sv-entry-mark');
  mark.setAttribute('aria-label', entry.status);
  mark.setAttribute('role', 'img');
  head.append(mark, make('b', entry.place), ' ', make('span', entry.title, 'sv-entry-title'));
  const says = make('section', '', 'sv-entry-says');
  says.append(make('h4', 'The source says'), make('p', entry.says));
  if (entry.quoted) says.append(table(entry.quoted, `${entry.place}, as printed`));
  const here = make('section', '', 'sv-entry-here');
  here.append(make('h4', 'Measured here'));
  if (entry.made) here.append(make('p', entry.made, 'sv-entry-made'));
  here.append(...entry.blocks.map(block => block.kind === 'lines' ? lineChart(block) : table(block, `${entry.place}, measured here`)));
  if (!entry.measurable && !entry.made) here.append(make('p', 'This entry has no measurement.', 'sv-entry-made'));
  const sentence = make('p', '', 'sv-entry-verdict');
  sentence.append(make('b', `${entry.status[0].toUpperCase()}${entry.status.slice(1)}. `), entry.sentence);
  const links = make('p', '', 'sv-entry-links');
  entry.opens.forEach(other => links.append(Object.assign(make('a', other.label), { href: `?${other.query}` })));
  links.append(Object.assign(make('a', 'Link'), { href: `?tab=papers&paper=${source}&entry=${entry.name}`, title: 'the address of this entry' }));
  if (entry.measurable) {
    const again = make('button', 'Measure again');
    again.type = 'button';
    again.disabled = running !== null;
    again.addEventListener('click', start);
    const line = make('span', running && running.source === source && running.name === entry.name ? running.text : '', 'sv-entry-status');
    line.setAttribute('role', 'status');
    links.append(again, line);
  }
  const two = make('div', '', 'sv-entry-two');
  two.append(says, here);
  box.append(head, two, sentence, links);
  return box;
}

/** @param {number} value */
function figure(value) {
  const small = value !== 0 && Math.abs(value) < 1e-4;
  return small ? value.toExponential(1) : Number(value.toPrecision(4)).toLocaleString('en', { maximumSignificantDigits: 4 });
}

/**
 * @param {import('./types.js').Table} block
 * @param {string} name of the region that scrolls
 */
function table(block, name) {
  const made = make('table'), top = make('tr'), body = make('tbody'), first = make('thead');
  block.columns.forEach(column => top.append(Object.assign(make('th', column), { scope: 'col' })));
  first.append(top);
  made.append(first, body);
  block.rows.forEach(cells => {
    const row = make('tr');
    cells.forEach(cell => {
      const text = cell === null ? '–' : typeof cell === 'number' ? figure(cell) : String(cell);
      row.append(make('td', text, /^[\d(.,]+( |$)/.test(text) ? 'number' : ''));
    });
    body.append(row);
  });
  const frame = make('div', '', 'sv-entry-table');
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', name);
  frame.append(made);
  return frame;
}
