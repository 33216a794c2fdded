// A tree of the lab: as a step that no rule has seen, which the tree's own view draws large, and as
// a small picture.

import { makeSvg } from '../base/dom.js';
import { plural, short } from '../base/text.js';
import { treeLayout } from '../tree/layout.js';
import { curve } from '../tree/paint.js';

/** @typedef {import('./types.js').LabTree} LabTree */

const WIDTH = 200,
  HEIGHT = 70,
  MARGIN = 10;

/** At a node of the picture; the sentence about it has more digits. @param {number} chance */
const shortText = chance => (chance >= 0.005 || chance === 0 ? chance.toFixed(2) : '<.01');

/**
 * A node has its chance as its text and as the width of its edge.
 * @param {LabTree} tree
 * @returns {Step}
 */
export function stepOf({ parents, chance }) {
  const texts = chance.map((value, node) => (node ? shortText(value) : 'root'));
  return /** @type {any} */ ({
    index: 0,
    parents,
    outcome: parents.map((_, node) => (node ? 'unreached' : 'root')),
    texts,
    q: chance,
    last: null,
  });
}

/** @param {LabTree} tree */
export function treePicture(tree) {
  const { marks, rows, columns } = treeLayout(stepOf(tree), () => true),
    svg = makeSvg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true' });
  const dx = Math.min(28, (WIDTH - 2 * MARGIN) / Math.max(1, columns - 1)),
    dy = Math.min(12, (HEIGHT - 2 * MARGIN) / Math.max(1, rows - 1));
  const left = (WIDTH - (columns - 1) * dx) / 2,
    top = (HEIGHT - (rows - 1) * dy) / 2;
  for (const { x, y, from, leaf, node = 0 } of marks) {
    const cx = left + dx * x;
    const cy = top + dy * y;
    if (from) {
      const d = curve(left + dx * from.x, top + dy * from.y, cx, cy);
      svg.prepend(makeSvg('path', { class: 'edge', d })); // below all nodes
    }
    const radius = Math.max(
      1.2,
      Math.min(4.5, 1.5 + dy * 0.25) * (0.5 + 0.5 * Math.sqrt(tree.chance[node])),
    );
    const inner = leaf ? 'leaf' : 'inner';
    makeSvg('circle', { class: from ? inner : 'root', cx, cy, r: radius }, svg);
  }
  return svg;
}

/** @param {Pick<LabTree, 'parents' | 'chance'>} tree @param {number} node */
export function nodeText({ parents, chance }, node) {
  const parent = parents[node];
  if (parent < 0) {
    const drafted = plural(parents.length - 1, 'drafted token');
    return `The root is the last token of the text; with it go ${drafted}. Select a node.`;
  }
  const rank = parents.slice(0, node).filter(other => other === parent).length + 1;
  let level = 1;
  for (let ancestor = parent; ancestor > 0; ancestor = parents[ancestor]) level++;
  const place = `Level ${level}, child ${rank} of ${parent ? 'its parent' : 'the root'}`;
  const text = `${place}: accepted with probability ${short(chance[node])}`;
  if (!parent) return `${text}.`; // the root is always there
  const share = chance[parent] ? chance[node] / chance[parent] : 0;
  return `${text}, and with ${short(share)} if its parent is accepted.`;
}
