// What can be shown within one step: its four parts, how its tree grew, and the tries of the rule. One at a time.

import { finder } from '../base/dom.js';
import { growthPlayer, grows } from '../tree/growth.js';
import { tryPlayer } from '../tree/tries.js';
import { phasePlayer } from './phases.js';

/** @typedef {import('../base/types.js').Step} Step */

/**
 * @param {HTMLElement} element
 * @param {{ changed: () => void, hold: () => void, pick: (node: number | null) => void, say: (text: string) => void }} on
 *   the picture changed; the run is to stay at its step; the node that is tried; what a screen reader hears
 */
export function withinStep(element, { changed, hold, pick, say }) {
  const $ = finder(element), growth = growthPlayer(element, { draw: changed, say }), tries = tryPlayer(element, { draw: changed, pick, say });
  const phases = phasePlayer(element, changed), mode = () => (growth.step ? growth : tries.step ? tries : null);

  function stop() {
    mode()?.stop();
    phases.stop();
  }

  return {
    stop,
    leavePhases: phases.stop,
    get playing() { return growth.playing || phases.playing; },
    /** The step whose growth or tries are shown. */
    get step() { return mode()?.step ?? null; },
    /** @param {number} by @returns {boolean} whether there is anything to move in */
    move(by) {
      mode()?.move(by);
      return mode() !== null;
    },
    /** @param {Step | undefined} step @param {string} [keys] what its builder calls them */
    grow(step, keys) {
      const leaves = growth.step !== null;
      stop();
      hold();
      if (!leaves && step) growth.start(step, keys);
    },
    /** @param {Step | undefined} step @param {boolean} [leavesFirst] how its rule goes through the tree */
    walk(step, leavesFirst) {
      const leaves = tries.step !== null;
      stop();
      hold();
      if (!leaves && step) tries.start(step, leavesFirst);
    },
    /** Whether Play is about this step: its growth, or its parts, which are shown once. @param {boolean} idle the run does not play @param {() => void} then */
    toggle(idle, then) {
      if (growth.step) growth.toggle();
      else if (phases.playing) phases.stop();
      else if (idle && phases.due) {
        tries.stop();
        hold();
        phases.play(then);
      } else {
        tries.stop();
        return false;
      }
      return true;
    },
    /** @param {import('../tree/view.js').TreeView} tree @param {Step} step */
    draw(tree, step) {
      if (mode() && mode()?.step !== step) mode()?.stop();
      $('grow').hidden = !grows(step);
      $('tries').hidden = !/[axp]/.test(step.outcome);
      tree.show(step, growth.frame(), phases.phase, tries.frame());
      phases.write(step);
    },
  };
}
