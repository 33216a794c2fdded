// The best tree of a machine at a temperature, which turns into the next one: nodes that both trees have move to their
// place, new ones grow from their parent, and the others go.

import { draw, make } from '../base/dom.js';
import { dot } from '../labs/cards.js';
import { curve } from '../tree/paint.js';

/**
 * @typedef {{ parents: number[], ranks: number[], rows: number[] }} Shape
 * @typedef {{ note: string, trees: Shape[], columns: string[], table: { machine: string, own: boolean, cells: string[] }[] }} Machines
 * @typedef {{ x: number, y: number, above: string, r: number }} Spot
 */

const WIDE = 800, HIGH = 400, MARGIN = 16, LASTS = 700; // the last is milliseconds

/** @type {import('./view.js').View} */
export function machinesView(picture) {
  const svg = draw('svg', { viewBox: `0 0 ${WIDE} ${HIGH}`, 'aria-hidden': 'true' }, picture);
  const parts = Object.fromEntries(['edges', 'gone', 'kept', 'new', 'root'].map(name => [name, draw('path', { class: name }, svg)]));
  const key = make('p', '', 'sv-machines-key'), table = make('table'), note = make('p', '', 'sv-machines-note');
  key.append(make('b', '●', 'kept'), ' a node of both trees, ', make('b', '●', 'new'), ' new, ', make('b', '●', 'gone'), ' removed');
  picture.append(key, table, note);
  let shown = /** @type {Map<string, Spot>} */ (new Map()), frame = 0;

  /** @param {Map<string, Spot>} next */
  function turnInto(next) {
    cancelAnimationFrame(frame);
    const before = shown.size ? shown : next, still = matchMedia('(prefers-reduced-motion: reduce)').matches || before === next;
    shown = next;
    if (still) return paint(before, next, 1);
    const begin = performance.now();
    frame = requestAnimationFrame(function go(now) {
      if (!svg.isConnected) return;
      const part = Math.min(1, Math.max(0, now - begin) / LASTS);
      paint(before, next, part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) ** 2);
      if (part < 1) frame = requestAnimationFrame(go);
    });
  }

  /** @param {Map<string, Spot>} before @param {Map<string, Spot>} next @param {number} part of the way, up to 1 */
  function paint(before, next, part) {
    const at = /** @type {Map<string, Spot>} */ (new Map()), marks = { gone: '', kept: '', new: '', root: '' };
    let edges = '';
    for (const name of new Set([...before.keys(), ...next.keys()])) {
      const from = before.get(name) ?? nearest(before, name), to = next.get(name) ?? nearest(next, name), here = next.get(name) ?? from;
      const spot = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part, above: here.above, r: from.r + (to.r - from.r) * part };
      at.set(name, spot);
      const kind = name === '' ? 'root' : !next.has(name) ? 'gone' : before.has(name) ? 'kept' : 'new';
      if (kind === 'gone' && part === 1) continue;
      marks[kind] += dot(round(spot.x), round(spot.y), round(kind === 'root' ? spot.r + 2 : spot.r));
      const above = at.get(spot.above);
      if (name !== '' && above) edges += curve(round(above.x), round(above.y), round(spot.x), round(spot.y));
    }
    parts.edges.setAttribute('d', edges);
    for (const [kind, d] of Object.entries(marks)) parts[kind].setAttribute('d', d);
  }

  return (/** @type {Machines} */ data, step) => {
    turnInto(spots(data.trees[step]));
    svg.dataset.nodes = String(data.trees[step].parents.length);
    note.textContent = data.note;
    const head = make('tr'), corner = make('th', 'nodes · levels');
    corner.scope = 'col';
    head.append(corner, ...data.columns.map((text, i) => mark(make('th', text), i === step)));
    table.replaceChildren(head, ...data.table.map(({ machine, own, cells }) => {
      const row = make('tr'), name = mark(make('th', machine), own);
      name.scope = 'row';
      row.append(name, ...cells.map((text, i) => mark(make('td', text), own && i === step)));
      return row;
    }));
  };
}

/** @template {HTMLElement} Cell @param {Cell} cell @param {boolean} now */
function mark(cell, now) {
  cell.classList.toggle('now', now);
  return cell;
}

/** @param {number} x */
const round = x => +x.toFixed(1);

/** The spot of the closest node above that a tree has. @param {Map<string, Spot>} tree @param {string} name @returns {Spot} */
function nearest(tree, name) {
  let up = name;
  while (!tree.has(up)) up = up.slice(0, Math.max(0, up.lastIndexOf('.')));
  return /** @type {Spot} */ (tree.get(up));
}

/** Where the nodes of a tree are, by the ranks on their path: the same name in two trees is the same node. @param {Shape} shape */
export function spots({ parents, ranks, rows }) {
  const names = [''], depth = [0];
  parents.forEach((parent, i) => {
    if (i === 0) return;
    names.push(`${names[parent]}.${ranks[i]}`);
    depth.push(depth[parent] + 1);
  });
  const dx = Math.min(90, (WIDE - 2 * MARGIN) / Math.max(1, ...depth)), dy = Math.min(28, (HIGH - 2 * MARGIN) / Math.max(1, ...rows));
  const r = Math.min(6, Math.max(1.4, 0.45 * dy, 0.02 * dx)), top = (HIGH - dy * Math.max(0, ...rows)) / 2;
  return new Map(names.map((name, i) => [name, { x: MARGIN + dx * depth[i], y: top + dy * rows[i], above: i ? names[parents[i]] : '', r }]));
}
