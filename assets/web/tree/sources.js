// Who guessed the nodes of a run: the outline that each drafter's nodes have, and how often each of
// them was right.

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

/** @param {string} name */
export const titleOf = name => DRAFTERS[name] || name;

/** A drafter's nodes have the same outline in every run. @param {string} name */
export function outlineOf(name) {
  const at = Object.keys(DRAFTERS).indexOf(name);
  return OUTLINES[(at < 0 ? OUTLINES.length - 1 : at) % OUTLINES.length];
}

/**
 * Adds a step to what is known of the drafters of its run.
 * @param {Guesses} guesses
 * @param {Pick<Sent, 'drafter' | 'outcome'>} step
 */
export function countGuesses(guesses, step) {
  (step.drafter ?? []).forEach((name, node) => {
    if (name === null) return;
    const count = guesses.get(name) ?? { nodes: 0, accepted: 0 };
    guesses.set(name, count);
    count.nodes++;
    if (step.outcome[node] === 'accepted') count.accepted++;
  });
  return guesses;
}

/** Whether there is anything to tell apart. @param {Guesses | undefined} guesses */
export const differ = guesses => (guesses?.size ?? 0) > 1;
