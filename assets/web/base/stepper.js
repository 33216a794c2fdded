// A position among a number of them, moved by hand or by a clock: a frame of a step in Explore and
// the lessons, a try in the Verification lab.

export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/**
 * @param {Element} element the clock stops when it leaves the page
 * @param {object} on
 * @param {() => number} on.count how many positions there are
 * @param {() => void} on.changed the position changed, or it began or ceased to play
 * @param {(at: number) => number} on.pace milliseconds that a position is shown
 * @param {() => void} [on.ended] it played to its end
 */
export function stepper(element, { count, changed, pace, ended }) {
  let at = -1,
    playing = false,
    timer = 0;

  function pause() {
    clearTimeout(timer);
    playing = false;
  }

  /** @param {number} next */
  function set(next) {
    at = Math.max(-1, Math.min(count() - 1, next));
    changed();
  }

  function tick() {
    if (!element.isConnected) return pause();
    if (at < count() - 1) set(at + 1);
    else {
      pause();
      changed();
      return ended?.();
    }
    if (playing) timer = setTimeout(tick, pace(at));
  }

  /** From the beginning where it stands at the end. @param {number} [from] */
  function play(from = at >= count() - 1 ? 0 : Math.max(0, at)) {
    pause();
    if (!count()) return;
    playing = true;
    set(from);
    if (playing) timer = setTimeout(tick, pace(at));
  }

  return {
    get at() {
      return at;
    },
    get playing() {
      return playing;
    },
    get atEnd() {
      return at >= count() - 1;
    },
    play,
    pause() {
      pause();
      changed();
    },
    toggle() {
      if (!playing) return play();
      pause();
      changed();
    },
    /** @param {number} next */
    go(next) {
      pause();
      if (count()) set(Math.max(0, next));
    },
    /** @param {number} by */
    move(by) {
      this.go(at + by);
    },
    /** Before the first position, as when nothing was shown yet. */
    reset() {
      pause();
      at = -1;
    },
  };
}
