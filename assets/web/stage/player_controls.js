// The player's buttons, slider, text and keys.

import { finder, query } from '../base/dom.js';
import { closedByEscape } from '../base/escape.js';
import { keys } from '../base/keys.js';
import { presents } from '../base/page.js';
import { onToken } from '../base/ribbon.js';

/** @typedef {import('../tree/view.js').Way} Way */

/**
 * @param {HTMLElement} element
 * @param {object} on
 * @param {import('../tree/view.js').TreeView} on.tree
 * @param {import('./playback.js').Playback} on.position
 * @param {(index: number, key?: string) => void} on.show a step and a node of it
 * @param {() => string | null} on.pinned the key of the node that was picked
 * @param {(key: string | null) => void} on.pick
 */
export function playerControls(element, { tree, position, show, pinned, pick }) {
  const $ = finder(element);
  const walk = (/** @type {Way} */ way) => () => {
    const key = tree.walk(way);
    if (key !== null) pick(key);
  };
  const acts = {
    back: () => void position.move(-1),
    forward: () => void position.move(1),
    play: position.toggle,
    fit: () => $('fit').setAttribute('aria-pressed', String(tree.fit())),
  };
  for (const [name, act] of Object.entries(acts)) $(name).addEventListener('click', act);
  const parts = /** @type {NodeListOf<HTMLInputElement>} */ ($('phases').querySelectorAll('input'));
  for (const part of parts) part.addEventListener('click', () => position.play(Number(part.value)));
  $('scrub').addEventListener('input', () => show(Number($('scrub').value)));
  onToken($('ribbon'), show);

  closedByEscape(query(element, '.sv'), 'card', () => {
    // Presented, a lesson has no card: there Escape ends the presentation.
    const hasCard = !presents() || query(element, '.sv-node-card').checkVisibility();
    const isPicked = hasCard && pinned() !== null;
    const plays = !presents() && !position.resting;
    if (isPicked) pick(null);
    else if (plays) position.rest();
    return isPicked || plays;
  });

  /** @param {KeyboardEvent} event */
  function actsOf({ target, shiftKey }) {
    const key = pinned();
    const inTree = target === $('svg') || shiftKey || key !== null; // else the page scrolls
    return {
      ...Object.fromEntries([1, 2, 3, 4].map(phase => [phase, () => position.play(phase)])),
      ArrowLeft: shiftKey ? walk('parent') : acts.back,
      ArrowRight: shiftKey ? walk('child') : acts.forward,
      ArrowUp: inTree && walk('up'),
      ArrowDown: inTree && walk('down'),
      ' ': acts.play,
      f: acts.fit,
      Enter: key !== null && (() => tree.unfold(key)),
    };
  }
  keys(query(element, '.sv'), actsOf, { own: $('scrub') });
  return acts;
}
