// The rows p and q: a slider and a number for each token. A probability that is moved makes room
// among the others.

import { copyOf, finder } from '../base/dom.js';
import { probability } from '../base/text.js';

const ROWS = /** @type {const} */ (['p', 'q']);

/** @param {number[]} weights as probabilities; all 0 where none is above 0 */
export function normalised(weights) {
  const valid = weights.map(weight => (weight > 0 ? weight : 0)),
    total = valid.reduce((sum, weight) => sum + weight, 0);
  return valid.map(weight => (total ? weight / total : 0));
}

/**
 * The row in which one token has a probability, and the others what is left, in their
 * proportions.
 * @param {number[]} weights
 * @param {number} token
 * @param {number} prob
 */
export function withProbability(weights, token, prob) {
  const row = normalised(weights),
    own = Math.min(1, Math.max(0, prob)),
    others = 1 - row[token];
  /** @param {number} other */
  const shareOf = other =>
    others > 1e-12 ? other / others : 1 / (row.length - 1);
  return row.map((other, i) => (i === token ? own : (1 - own) * shareOf(other)));
}

/**
 * @param {HTMLElement} root
 * @param {{ names: string[], p: number[], q: number[] }} state
 * @param {() => void} changed
 */
export function rowControls(root, state, changed) {
  const $ = finder(root, 'sv-v-');
  /** @type {(() => void)[]} */
  let writers = []; // of the probabilities in each line
  const refresh = () => writers.forEach(write => write());

  function show() {
    writers = [];
    const lines = state.names.flatMap((_, token) => ROWS.map(name => line(name, token)));
    $('rows').replaceChildren(...lines);
    refresh();
  }

  /** @param {'p' | 'q'} name @param {number} token */
  function line(name, token) {
    const box = copyOf(root);
    const [title, letter, track, number] = box.children;
    const label = `${name === 'p' ? 'target p' : 'draft q'} of ${state.names[token]}`;
    box.classList.add(name);
    title.textContent = state.names[token];
    letter.textContent = name;
    track.setAttribute('aria-label', label);
    number.setAttribute('aria-label', `${label}, as a number`);
    track.oninput = number.onchange = (/** @type {any} */ { target: { value } }) => {
      if (value) {
        state[name] = withProbability(state[name], token, Number(value));
        changed();
      }
      refresh();
    };
    writers.push(() => {
      const prob = normalised(state[name])[token];
      track.value = prob;
      number.value = Number(probability(prob)); // as in tables
    });
    return box;
  }

  return { show };
}
