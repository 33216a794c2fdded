// The tries of a rule in one step, one after the other, from the record: the same children, order and uniform draws.

import { finder } from '../base/dom.js';
import { visible } from '../base/text.js';

/** @typedef {import('../base/types.js').Step} Step */

/**
 * How far the tries have come: the node that is tried now, and those that will be tried later.
 * @typedef {{ node: number | null, later: Set<number> }} Tried
 */

/**
 * The nodes that the rule compared, in its order.
 * @param {Step} step
 * @param {boolean} [leavesFirst] whether it tests what is below a node before the node
 */
export function triesOf(step, leavesFirst = false) {
  const order = /** @type {number[]} */ ([]);
  /** @param {number} node */
  function below(node) {
    const children = step.parents.flatMap((parent, i) => (i > 0 && parent === node && 'axp'.includes(step.outcome[i]) ? [i] : []));
    if (!leavesFirst) order.push(...children);
    for (const child of children) {
      below(child);
      if (leavesFirst) order.push(child);
    }
  }
  below(0);
  return order;
}

/**
 * @param {HTMLElement} element
 * @param {{ draw: () => void, pick: (node: number | null) => void, say: (text: string) => void }} on the frame changed; the
 *   node that is tried now; what a screen reader hears
 */
export function tryPlayer(element, on) {
  const $ = finder(element);
  let step = /** @type {Step | null} */ (null), tries = /** @type {number[]} */ ([]), at = 0;

  /** @param {Step} next @param {boolean} [leavesFirst] */
  function start(next, leavesFirst) {
    tries = triesOf(next, leavesFirst);
    if (!tries.length) return;
    step = next;
    at = 0;
    show();
  }

  function show() {
    $('growing').hidden = !step;
    $('phases').hidden = Boolean(step);
    $('tries').setAttribute('aria-pressed', step !== null);
    $('growing').textContent = step ? sentence(step) : '';
    if (step) on.say($('growing').textContent);
    on.pick(step && at < tries.length ? tries[at] : null);
    on.draw();
  }

  /** @param {Step} of */
  function sentence(of) {
    const node = tries[at];
    if (node === undefined) {
      return of.last ? `All ${tries.length} tries are over; the target ${of.last === 'bonus' ? 'adds' : 'writes'} “${visible(of.pieces[of.pieces.length - 1])}”.`
        : `All ${tries.length} tries are over.`;
    }
    return `Try ${at + 1} of ${tries.length}: “${visible(of.texts[node])}” after “${visible(of.texts[of.parents[node]])}”. ${of.sentences[of.why[node]]}`;
  }

  function stop() {
    if (!step) return;
    step = null;
    show();
  }

  return {
    start, stop,
    get step() { return step; },
    /** What the tree shows. @returns {Tried | null} */
    frame: () => (step ? { node: tries[at] ?? null, later: new Set(tries.slice(at + 1)) } : null),
    /** @param {number} by */
    move(by) {
      at = Math.min(tries.length, Math.max(0, at + by));
      show();
    },
  };
}
