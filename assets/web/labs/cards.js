// The trees side by side: a small picture of each, what it is expected to bring, and its settings.

import { button, draw, make } from '../base/dom.js';
import { curve } from '../tree/paint.js';

/** @typedef {import('./types.js').LabTree} LabTree */

/** How many levels below the root each node stands. @param {number[]} parents */
export function depthsOf(parents) {
  const depth = [0];
  for (let i = 1; i < parents.length; i++) depth.push(depth[parents[i]] + 1);
  return depth;
}

/** @param {LabTree | import('./types.js').NoTree} tree @param {number} most tokens of the best one @param {() => void} chosen */
export function treeCard(tree, most, chosen) {
  const card = button('', chosen, 'sv-lab-card');
  card.dataset.name = tree.name;
  card.append(make('span', tree.title, 'sv-lab-title'));
  if (tree.kind === 'none') {
    card.disabled = true;
    card.append(make('span', tree.note, 'sv-lab-none'));
    return card;
  }
  const tokens = make('span', '', 'sv-lab-tokens'), bar = make('span', '', 'sv-lab-bar'), part = make('i');
  tokens.append(make('b', tree.tokens.toFixed(2)), tree.error ? ` ± ${tree.error.toFixed(2)} tokens per target pass` : ' tokens per target pass');
  part.style.width = `${(100 * tree.tokens) / most}%`;
  bar.append(part);
  card.append(thumbnail(tree), tokens, bar, make('span', tree.stats, 'sv-lab-stats'), make('span', tree.settings, 'sv-lab-settings'));
  if (tree.kind === 'synthetic') card.append(make('span', 'synthetic distributions', 'sv-lab-badge'));
  card.setAttribute('aria-label', `${tree.title}: ${tree.tokens.toFixed(2)} tokens per target pass, ${tree.stats}. Show it large.`);
  return card;
}

/** @type {(x: number, y: number, r: number) => string} */
export const dot = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

/** @param {LabTree} tree */
function thumbnail(tree) {
  const width = 260, height = 132, margin = 12, depth = depthsOf(tree.parents);
  const levels = Math.max(1, ...depth), rows = Math.max(0, ...tree.rows);
  const dx = Math.min(30, (width - 2 * margin) / levels), dy = rows ? Math.min(15, (height - 2 * margin) / rows) : 0;
  const left = (width - dx * levels) / 2, top = (height - dy * rows) / 2;
  const size = Math.min(4.5, 1 + Math.min(dx, dy || 15) * 0.22);
  const x = (/** @type {number} */ i) => +(left + dx * depth[i]).toFixed(1), y = (/** @type {number} */ i) => +(top + dy * tree.rows[i]).toFixed(1);
  const svg = draw('svg', { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' }), inner = new Set(tree.parents);
  let edges = '', filled = '', rings = '';
  tree.parents.forEach((parent, i) => {
    if (parent >= 0) edges += curve(x(parent), y(parent), x(i), y(i));
    const r = +(size * (0.55 + 0.45 * Math.sqrt(tree.chance[i]))).toFixed(2);
    if (inner.has(i)) filled += dot(x(i), y(i), r); else rings += dot(x(i), y(i), r);
  });
  draw('path', { class: 'edges', d: edges }, svg);
  draw('path', { class: 'rings', d: rings }, svg);
  draw('path', { class: 'filled', d: filled }, svg);
  draw('circle', { class: 'root', cx: x(0), cy: y(0), r: 4.5 }, svg);
  return svg;
}
