// The player's buttons, slider, text and keys.

import { finder, query, queryAll } from '../base/dom.js';
import { closedByEscape } from '../base/escape.js';
import { keys } from '../base/keys.js';
import { presents } from '../base/page.js';
import { playerBar } from '../base/player_bar.js';
import { onToken } from '../base/ribbon.js';

/**
 * @param {HTMLElement} element
 * @param {object} on
 * @param {import('../tree/view.js').TreeView} on.tree
 * @param {import('./playback.js').Playback} on.position
 * @param {(index: number, key?: string) => void} on.show a step and a node of it
 * @param {(key: string | null) => void} on.pick
 * @param {(by: number) => unknown} on.move
 */
export function playerControls(element, { tree, position, show, pick, move }) {
  const $ = finder(element);
  const acts = {
    back: () => void move(-1),
    forward: () => void move(1),
    play: position.toggle,
  };
  const writeBar = playerBar(element, acts, at => show(at));
  for (const part of queryAll($('phases'), 'input'))
    part.onclick = () => position.play(Number(part.value));
  onToken($('ribbon'), show);

  closedByEscape(query(element, '.sv'), 'card', () => {
    const isPicked = tree.selected !== null;
    if (isPicked) pick(null);
    return isPicked;
  });

  /** @param {KeyboardEvent} event */
  function actsOf({ target }) {
    // else the page scrolls
    const inTree = target === $('svg') || tree.selected !== null;
    return {
      ArrowLeft: acts.back,
      ArrowRight: acts.forward,
      ...(presents() && { PageUp: acts.back, PageDown: acts.forward }), // of a lecturer's clicker
      ' ': acts.play,
      ...(inTree && tree.keys),
    };
  }
  keys(query(element, '.sv'), actsOf, { own: $('scrub') });

  return {
    /** @param {number} count of steps */
    write(count) {
      const { current, frame, playing } = position;
      const place = count ? `step ${current + 1} of ${count}` : 'no step yet';
      writeBar(Math.max(0, current), Math.max(0, count - 1), place, playing);
      query($('phases'), `[value="${frame?.phase ?? 4}"]`).checked = true;
    },
  };
}
