// A tree of the lab, as a step that no rule has seen.

import { make, makeSvg } from '../base/dom.js';
import { plural, short } from '../base/text.js';
import { treeView } from '../tree/view.js';

/** @typedef {import('./types.js').LabTree} LabTree */

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

/** The tree of a card, without its numbers. @param {LabTree} tree */
export function smallPicture(tree) {
  const svg = makeSvg('svg', { class: 'sv-svg', 'aria-hidden': 'true' });
  const box = make('div', [svg], 'sv sv-scroll');
  const texts = tree.parents.map(() => ''); // labels would take room
  treeView(svg, { pick: () => {} }).show({ ...stepOf(tree), texts });
  return box;
}

/** @param {Pick<LabTree, 'parents' | 'chance'>} tree @param {number} node */
export function nodeText({ parents, chance }, node) {
  const parent = parents[node];
  if (parent < 0) {
    const drafted = plural(parents.length - 1, 'drafted token');
    return `The root is the last token of the text; with it go ${drafted}. Select a node.`;
  }
  const text = `Accepted with probability ${short(chance[node])}`;
  if (!parent) return `${text}.`; // the root is always there
  const share = chance[parent] ? chance[node] / chance[parent] : 0;
  return `${text}, and with ${short(share)} if its parent is accepted.`;
}
