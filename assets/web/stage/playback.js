// Which step of a run is on the screen and which of its frames: at rest, playing, or followed as
// the run grows.

import { presents } from '../base/page.js';
import { reducedMotion, stepper } from '../base/stepper.js';
import { framesOf } from './frames.js';

/** @typedef {import('./frames.js').Frame} Frame */
/** @typedef {ReturnType<typeof playback>} Playback */

const GROWTH = 2500; // milliseconds in which the draft's tree grows
/** @type {Record<number, number>} */
const PACES = { 1: 2600, 2: 2600, 3: 2200, 4: 1800 }; // milliseconds of a frame, by phase
const STREAM = 240; // milliseconds between two steps of a run that grows
const QUICK = 5; // times as fast a run plays at last that nobody stops

/** Whether a node is added in a frame. @param {Frame} frame */
const isGrowth = ({ phase, at }) => phase === 1 && at !== null;

/**
 * @param {HTMLElement} element
 * @param {object} run
 * @param {() => Step[]} run.steps
 * @param {() => boolean} run.running whether more steps may come
 * @param {() => Parameters<typeof framesOf>[1]} run.head
 * @param {() => void} run.changed
 */
export function playback(element, { steps, running, head, changed }) {
  let current = -1; // the step
  let following = true; // whether it is the newest one, of a run that grows
  /** @type {number | null} */
  let openAtEnd = null; // the step to open after the newest one
  let streak = -1; // how many steps were played in a row; -1 where one is played alone
  let timer = 0;
  /** @type {Frame[]} */
  let all = []; // the frames of the step
  let end = 0; // one past the last frame to play
  const frames = stepper(element, {
    changed,
    count: () => end,
    ended: () => {
      if (streak >= 0) next();
    },
    pace: at => {
      const growing = GROWTH / steps()[current].parents.length;
      const pace = isGrowth(all[at]) ? growing : PACES[all[at].phase];
      return pace / Math.min(QUICK, 1 + Math.max(0, streak));
    },
  });

  function reset() {
    clearTimeout(timer);
    current = streak = -1;
    following = true;
    openAtEnd = null;
    all = [];
    end = timer = 0;
    frames.reset();
  }

  /** The next step of a run that grows, at a pace at which its text can be read. */
  function stream() {
    timer = 0;
    const newest = steps().length - 1;
    if (!following || !element.isConnected) return;
    if (current < newest) {
      settle(reducedMotion() ? newest : current + 1);
      timer = setTimeout(stream, reducedMotion() ? 0 : STREAM);
    } else if (openAtEnd !== null || !running()) {
      following = false;
      if (openAtEnd !== null) open(openAtEnd);
      else changed();
    }
  }

  /** The outcome of a step, without its frames. @param {number} index */
  function settle(index) {
    if (!steps().length) return;
    current = Math.min(steps().length - 1, Math.max(0, index));
    all = framesOf(steps()[current], head());
    end = all.length;
    frames.go(end - 1);
  }

  /** A step, of which the frames from a phase on play. @param {number} index */
  function open(index, phase = 3) {
    settle(index);
    following = false;
    if (!reducedMotion()) play(phase);
    else if (streak >= 0) frames.play(end - 1);
  }

  /**
   * The frames of the step from a phase on.
   * @param {number} phase
   * @param {boolean} [only] and no further
   */
  function play(phase, only = false) {
    const from = all.findIndex(frame => frame.phase >= phase);
    const last = all.findLastIndex(frame => frame.phase === phase);
    end = only ? Math.max(from, last) + 1 : all.length;
    following = false;
    // Without motion a phase is its last frame; but verification begins with its first try, from
    // which a visitor goes on.
    if (reducedMotion() || from === end - 1) frames.go(phase === 3 ? from : Math.max(from, last));
    else frames.play(from);
  }

  function next() {
    streak++;
    if (current < steps().length - 1) open(current + 1);
    else streak = -1;
  }

  return {
    get current() {
      return current;
    },
    get frame() {
      const frame = all[frames.at] ?? null;
      if (!frame || !frames.playing || !isGrowth(frame)) return frame;
      // There is time to read one sentence while the tree grows: that of the whole tree.
      return { ...frame, ...all.findLast(({ phase }) => phase === 1), lastNode: frame.lastNode };
    },
    /**
     * The step and its phase in one word. A node that was picked in another one is left: that it
     * was rejected is not yet true of the draft.
     */
    get phase() {
      return `${current} ${all[frames.at]?.phase}`;
    },
    get following() {
      return following;
    },
    get playing() {
      return frames.playing;
    },
    reset,
    open,
    /**
     * More of a run is there: its steps are shown one after the other, unless somebody looks at
     * another one.
     * @param {number} [show] the step to open at its end, when it is known
     */
    grown(show) {
      openAtEnd = show ?? openAtEnd;
      if (!timer) stream();
    },
    /** @param {number} index */
    show(index) {
      streak = -1;
      settle(index);
      following = current === steps().length - 1 && running();
    },
    rest: () => settle(current),
    /** @param {number} phase */
    play(phase) {
      streak = -1;
      play(phase, presents());
    },
    /**
     * Moves by a frame inside a step that plays, by a phase while presenting, else by a step.
     * @param {number} by
     * @returns {boolean} whether there was any
     */
    move(by) {
      const { phase } = all[frames.at] ?? { phase: 4 };
      const other = current + by;
      streak = -1;
      if (presents() && phase + by >= 1 && phase + by <= 4) play(phase + by, true);
      else if (!presents() && !frames.playing && frames.at < all.length - 1) frames.move(by);
      else if (other < 0 || other >= steps().length) return false;
      else if (presents()) {
        settle(other);
        play(by > 0 ? 1 : 4, true);
      } else open(other);
      return true;
    },
    toggle() {
      if (!steps().length) return;
      following = false;
      if (frames.playing) {
        streak = -1;
        return frames.pause();
      }
      end = all.length;
      streak = 0;
      if (!frames.atEnd) frames.play();
      else if (current < steps().length - 1) next();
      else if (!running()) open(0);
    },
  };
}
