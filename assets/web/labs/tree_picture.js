// A tree as SVG, from left to right: a first child beside its parent, its siblings below. Small without labels, or large.

import { draw } from '../base/dom.js';
import { curve } from '../tree/paint.js';

/** @typedef {import('./types.js').LabTree} LabTree */

/** @param {number} chance */
export const chanceText = chance => (chance >= 0.0995 || chance === 0 ? chance.toFixed(2) : chance >= 0.001 ? chance.toFixed(3) : chance.toExponential(0));

/**
 * The level and the row of every node, and the nodes from top to bottom.
 * @param {number[]} parents
 */
export function placed(parents) {
  const children = parents.map(() => /** @type {number[]} */ ([])), depth = [0], row = [0], order = /** @type {number[]} */ ([]);
  parents.forEach((parent, node) => { if (parent >= 0) { children[parent].push(node); depth[node] = depth[parent] + 1; } });
  let rows = 0;
  /** @param {number} node @param {number} at */
  function put(node, at) {
    row[node] = at;
    order.push(node);
    children[node].forEach((child, i) => put(child, i ? ++rows : at));
  }
  put(0, 0);
  return { depth, row, rows: rows + 1, order, children };
}

/**
 * @param {LabTree} tree
 * @param {{ width?: number, height?: number, row?: number, column?: number, labels?: boolean }} size of the whole picture, or
 *   of a row and a column
 */
export function treePicture({ parents, chance, title }, { width = 0, height = 0, row = 0, column = 0, labels = false }) {
  const { depth, row: rows, rows: count, children } = placed(parents), levels = Math.max(1, ...depth), margin = 10;
  const dx = column || Math.min(28, (width - 2 * margin) / levels), dy = row || Math.min(12, (height - 2 * margin) / Math.max(1, count - 1));
  const wide = width || levels * dx + 2 * margin + (labels ? 40 : 0), high = height || (count - 1) * dy + 2 * margin;
  const left = width ? (wide - levels * dx) / 2 : margin, top = height ? (high - (count - 1) * dy) / 2 : margin;
  const svg = draw('svg', { viewBox: `0 0 ${wide} ${high}`, class: 'sv-lab-picture' });
  if (labels) for (const [name, value] of Object.entries({ width: wide, height: high })) svg.setAttribute(name, String(value));
  if (labels) svg.setAttribute('aria-label', title); else svg.setAttribute('aria-hidden', 'true');
  const x = (/** @type {number} */ node) => left + dx * depth[node], y = (/** @type {number} */ node) => top + dy * rows[node];
  parents.forEach((parent, node) => {
    if (parent >= 0) draw('path', { class: 'edge', 'data-node': node, d: curve(x(parent), y(parent), x(node), y(node)) }, svg);
  });
  parents.forEach((parent, node) => {
    const spot = draw('g', { 'data-node': node, class: parent < 0 ? 'root' : children[node].length ? 'inner' : 'leaf' }, svg);
    if (labels) draw('rect', { class: 'hit', x: x(node) - 9, y: y(node) - dy / 2, width: dx * 0.9, height: dy }, spot);
    draw('circle', { cx: x(node), cy: y(node), r: Math.max(1.2, (labels ? 6 : Math.min(4.5, 1.5 + dy * 0.25)) * (0.5 + 0.5 * Math.sqrt(chance[node]))) }, spot);
    if (labels && parent >= 0) draw('text', { x: x(node) + 10, y: y(node) + 4 }, spot, chanceText(chance[node]));
  });
  return svg;
}

/** @param {Pick<LabTree, 'parents' | 'chance'>} tree @param {number} node */
export function nodeText({ parents, chance }, node) {
  const parent = parents[node];
  if (parent < 0) return `The root, the last token of the text, with ${parents.length - 1} drafted tokens. Select a node.`;
  const rank = parents.slice(0, node).filter(other => other === parent).length + 1, above = parent ? `node ${parent}` : 'the root';
  return `Node ${node}, child ${rank} of ${above}: accepted with probability ${chanceText(chance[node])}, and with ` +
    `${chanceText(chance[parent] ? chance[node] / chance[parent] : 0)} if ${above} is accepted.`;
}
