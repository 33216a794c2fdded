// Who drafted a node: the outline that each drafter's nodes have.

import { DRAFTERS } from '../base/words.js';

const CIRCLE = 'M0 -10A10 10 0 1 1 0 10A10 10 0 1 1 0 -10Z';
const SQUARE = 'M-9.5 -9.5H9.5V9.5H-9.5Z';
const OUTLINES = [
  // by shape or dash, so that they differ without any colour
  { d: CIRCLE, dash: 'none' },
  { d: 'M0 -12L11 0L0 12L-11 0Z', dash: '3 2.5' },
  { d: SQUARE, dash: 'none' },
  { d: 'M0 -12L11 0L0 12L-11 0Z', dash: 'none' },
  { d: CIRCLE, dash: '1.5 3.2' },
  { d: SQUARE, dash: '4.5 3' },
  { d: 'M-5 -10H5L11 0L5 10H-5L-11 0Z', dash: 'none' },
  { d: 'M-5 -10H5L11 0L5 10H-5L-11 0Z', dash: '3 2.5' },
  { d: 'M0 -13L12 9H-12Z', dash: 'none' },
];

/** A drafter's nodes have the same outline in every run. @param {string} name */
export function outlineOf(name) {
  const at = Object.keys(DRAFTERS).indexOf(name);
  const { d, dash } = OUTLINES[(at < 0 ? OUTLINES.length - 1 : at) % OUTLINES.length];
  return { d, 'stroke-dasharray': dash };
}
