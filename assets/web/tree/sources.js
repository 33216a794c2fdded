// Who drafted a node: the outline that each drafter's nodes have.

import { DRAFTERS } from '../base/words.js';

// Together they differ without any colour.
const SHAPES = [
  'M0 -10A10 10 0 1 1 0 10A10 10 0 1 1 0 -10Z',
  'M0 -12L11 0L0 12L-11 0Z',
  'M-9.5 -9.5H9.5V9.5H-9.5Z',
  'M-5 -10H5L11 0L5 10H-5L-11 0Z',
  'M0 -13L12 9H-12Z',
];
const DASHES = ['3 2.5', 'none', '1.5 3.2'];

/** A drafter's nodes have the same outline in every run. @param {string} name */
export function outlineOf(name) {
  const at = 1 + Object.keys(DRAFTERS).indexOf(name); // 0 for one of a plugin
  return { d: SHAPES[at % SHAPES.length], 'stroke-dasharray': DASHES[at % DASHES.length] };
}
