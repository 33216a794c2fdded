// Which step of a run is on the screen, and the clock that goes on to the next one.

/**
 * @param {HTMLElement} element
 * @param {{ count: () => number, running: () => boolean, speed: () => number, moved: () => void, changed: () => void }} run how
 *   many steps there are, whether more may come, steps a second; told of another step, and of play and pause
 */
export function stepClock(element, { count, running, speed, moved, changed }) {
  let current = -1, following = true, playing = false, timer = 0;

  function reset() {
    pause();
    current = -1;
    following = true;
  }

  /** @param {number} index */
  function go(index) {
    if (!count()) return;
    current = Math.min(count() - 1, Math.max(0, index));
    following = current === count() - 1 && running();
    moved();
  }

  // Shows a step without following the run from there.
  function hold(index = current) {
    if (index !== current) go(index);
    following = false;
  }

  // Goes along with a run that has grown.
  function grown() {
    if (!following || current === count() - 1) return;
    current = count() - 1;
    moved();
  }

  function pause() {
    clearTimeout(timer);
    playing = false;
  }

  function play() {
    if (!count()) return;
    if (current >= count() - 1 && !running()) current = -1;
    playing = true;
    tick();
  }

  function tick() {
    if (!element.isConnected) return pause();
    if (current < count() - 1) go(current + 1);
    else if (!running()) pause();
    changed();
    if (playing) timer = setTimeout(tick, 1000 / speed());
  }

  function toggle() {
    if (playing || (running() && following)) {
      pause();
      following = false;
    } else play();
    changed();
  }

  return {
    get current() { return current; },
    get following() { return following; },
    get playing() { return playing; },
    reset, go, hold, grown, pause, toggle,
  };
}
