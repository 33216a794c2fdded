// The four parts of a step: draft, target pass, verification, the target's own token. The first press of Play shows them
// one after the other; a press on one of them shows the step up to there.

import { finder, query } from '../base/dom.js';
import { visible } from '../base/text.js';

/** @typedef {import('../base/types.js').Step} Step */

const PACE = 800; // milliseconds
const LAST = 4;

/** @param {number} number @param {string} word */
const counted = (number, word) => `${number} ${word}${number === 1 ? '' : word.endsWith('s') ? 'es' : 's'}`;

/** @param {HTMLElement} element @param {() => void} changed */
export function phasePlayer(element, changed) {
  const box = finder(element)('phases'), buttons = /** @type {HTMLElement[]} */ ([...box.children]);
  let phase = LAST, timer = 0, seen = false, playing = false;

  /** @param {number} next */
  function set(next) {
    phase = next;
    mark();
    changed();
  }

  function mark() {
    buttons.forEach((button, i) => {
      if (i + 1 === phase) button.setAttribute('aria-current', 'step'); else button.removeAttribute('aria-current');
    });
  }

  function stop() {
    clearTimeout(timer);
    playing = false;
    if (phase !== LAST) set(LAST);
  }

  /** @param {() => void} then */
  function play(then) {
    seen = playing = true;
    set(1);
    const go = () => {
      if (!element.isConnected) return stop();
      if (phase === LAST) {
        playing = false;
        return then();
      }
      set(phase + 1);
      timer = window.setTimeout(go, PACE);
    };
    timer = window.setTimeout(go, PACE);
  }

  /** @param {Step} step */
  function write(step) {
    const drafted = step.parents.length - 1, own = step.pieces[step.pieces.length - 1];
    const words = [drafted ? `${counted(drafted, 'token')}, ${counted(step.draft_passes, 'draft pass')}` : 'nothing was drafted', counted(drafted + 1, 'node'),
      `${step.path.length} accepted`, step.last ? `“${visible(own)}”` : 'none: the text is complete'];
    buttons.forEach((button, i) => { query(button, 'small').textContent = words[i]; });
  }

  buttons.forEach((button, i) => button.addEventListener('click', () => {
    stop();
    set(i + 1);
  }));
  mark();

  return {
    play, stop, write,
    get phase() { return phase; },
    get playing() { return playing; },
    /** Whether nobody has seen them yet and nobody asked for less motion. */
    get due() { return !seen && !matchMedia('(prefers-reduced-motion: reduce)').matches; },
  };
}
