// Two tables that fill step by step: instructions in a processor's pipeline, and the guesses of a draft.

import { make } from '../base/dom.js';

/**
 * @typedef {{ row: number, column: number, text: string, kind: string, phase: number }} Cell
 * @typedef {{ title: string, corner: string, rows: string[], discarded: boolean[], columns: string[], cells: Cell[], said: string[], key: string }} Side
 */

const MARKS = /** @type {Record<string, string>} */ ({ gone: '✕', accepted: '■', rejected: '✕', unreached: '○', correction: '◆', bonus: '◆' });
const DISCARD = 3; // the step in which what was wrong is discarded

/** @type {import('./view.js').View} */
export function pipelineView(picture) {
  return (/** @type {{ sides: Side[] }} */ data, step) => {
    picture.replaceChildren(...data.sides.map(side => {
      const box = make('section'), said = make('p', side.said[step]);
      box.append(make('h3', side.title), said, grid(side, step), make('p', side.key, 'sv-pipeline-key'));
      return box;
    }));
    const live = picture.closest('.sv-view')?.querySelector('.sv-view-said');
    if (live) live.textContent = data.sides.map(side => `${side.title}: ${side.said[step]}`).join(' ');
  };
}

/** @param {Side} side @param {number} step */
function grid(side, step) {
  const scroll = make('div', '', 'sv-pipeline-scroll'), table = make('table'), head = make('tr');
  head.append(...[side.corner, ...side.columns].map(text => heading(text, 'col')));
  const rows = side.rows.map((text, i) => {
    const row = make('tr'), named = heading(text, 'row');
    const seen = side.cells.some(cell => cell.row === i && cell.phase <= step);
    row.append(named, ...side.columns.map(() => make('td')));
    row.classList.toggle('later', !seen);
    row.classList.toggle('discarded', side.discarded[i] && step >= DISCARD);
    return row;
  });
  for (const { row, column, text, kind, phase } of side.cells) {
    if (phase > step) continue;
    const cell = /** @type {HTMLElement} */ (rows[row].children[column + 1]);
    cell.className = `${kind}${phase === step ? ' now' : ''}`;
    cell.append(make('b', MARKS[kind] ?? text[0].toUpperCase()), make('small', text));
    cell.title = text;
  }
  const body = make('tbody'), top = make('thead');
  top.append(head);
  body.append(...rows);
  table.append(top, body);
  scroll.append(table);
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'group');
  scroll.setAttribute('aria-label', side.title);
  return scroll;
}

/** @param {string} text @param {string} scope */
function heading(text, scope) {
  const cell = make('th', text);
  cell.scope = scope;
  return cell;
}
