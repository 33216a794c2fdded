// A step as frames: the draft's tree grows, one target pass scores it, the rule walks it token by
// token, the target adds a token.

import { isTried, nodeOfKey } from '../tree/layout.js';
import { growthSentence, passSentence, stepSentence } from './sentences.js';
import { treeSentence, trySentence } from './sentences.js';

/**
 * @typedef {object} Frame
 * @property {1 | 2 | 3 | 4} phase
 * @property {number} lastNode that is there
 * @property {Set<number>} later nodes that are tried later
 * @property {number | null} at the node that the frame is about
 * @property {string} text a sentence
 */

/**
 * @param {Step} step
 * @param {{ key?: string }} [head] what the builder calls its numbers
 * @returns {Frame[]}
 */
export function framesOf(step, { key = 'key' } = {}) {
  const last = step.parents.length - 1;
  const all = new Set(step.parents.keys());
  const tries = step.order;
  // Accepted with a node below them, without a try of their own: known after the last try.
  const untried = step.path.filter(node => !tries.includes(node));
  /** @type {Frame[]} */
  const frames = [];
  const whole = { lastNode: last, later: all, at: null };
  for (let node = 1; node < last; node++) {
    const text = growthSentence(step, node, key);
    frames.push({ phase: 1, lastNode: node, later: all, at: node, text });
  }
  if (last > 0) frames.push({ ...whole, phase: 1, text: treeSentence(step) });
  frames.push({ ...whole, phase: 2, text: passSentence(step) });
  tries.forEach((node, i) => {
    const rest = tries.slice(i + 1);
    const later = new Set(rest.length ? [...rest, ...untried] : []);
    const text = trySentence(step, node);
    frames.push({ ...whole, phase: 3, later, at: node, text });
  });
  frames.push({ ...whole, phase: 4, later: new Set(), text: stepSentence(step) });
  return frames;
}

/**
 * Whether a frame shows what became of a node.
 * @param {Step} step
 * @param {Frame | null} frame
 * @param {string | null} key
 */
export function isDecided(step, frame, key) {
  const node = key === null ? null : nodeOfKey(key);
  if (!frame || node === null || frame.phase === 4) return true;
  return isTried(step.outcome[node]) && !frame.later.has(node);
}
