// The shared clock of a comparison: all runs are replayed together on it.

import { finder } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { onceAFrame, presents } from '../base/page.js';
import { playerBar } from '../base/player_bar.js';
import { reducedMotion } from '../base/stepper.js';

/** @typedef {import('./column.js').Column} Column */

const SPEEDS = [1, 0.5, 0.25, 0.1, 0.02];
const SHORTEST = 1.5; // seconds until the first run ends

/**
 * @param {HTMLElement} root
 * @param {() => Column[]} columns
 * @param {(time: number) => void} show draws what moves with the clock
 */
export function sharedClock(root, columns, show) {
  const $ = finder(root);
  const draw = onceAFrame(render);
  let time = 0;
  let playing = false;
  let before = 0; // when it was drawn last

  const ends = () => columns().map(column => column.ends.at(-1) ?? 0);
  const limit = () => Math.max(0, ...ends());
  const first = () => Math.min(...ends());

  /** Shows what was decoded last. */
  function follow() {
    time = limit();
  }

  function ended() {
    const slow = SPEEDS.find(speed => first() / speed >= SHORTEST) ?? SPEEDS.at(-1);
    $('speed').value = slow;
    time = 0;
    if (reducedMotion()) time = first();
    else play();
  }

  /** @param {number} now */
  function render(now) {
    if (!root.isConnected) return;
    if (playing) {
      // it stands still when the first run is through, so that the others can be read
      const stop = time < first() ? first() : limit();
      time += (Number($('speed').value) * Math.max(0, now - before)) / 1000;
      before = now;
      if (time >= stop) seek(stop);
      else draw();
    }
    show(time);
    /** @param {number} value */
    const seconds = value => value.toFixed(limit() < 2 ? 3 : 2);
    const place = limit() ? `${seconds(time)} of ${seconds(limit())} s` : 'no step yet';
    // It stopped where the first run is through.
    const goesOn = time === first() && time < limit();
    writeBar(time, limit(), place, playing, goesOn ? ' the rest' : '');
  }

  /** @param {number} seconds */
  function seek(seconds) {
    time = Math.min(limit(), Math.max(0, seconds));
    playing = false;
    draw();
  }

  function play() {
    if (time >= limit()) time = 0;
    playing = limit() > 0;
    before = performance.now();
    draw();
  }

  const toggle = () => {
    if (playing) seek(time);
    else play();
  };
  const moments = () => columns().flatMap(column => column.ends);
  const back = () => seek(Math.max(...moments().filter(end => end < time)));
  const forward = () => seek(Math.min(...moments().filter(end => end > time)));
  const writeBar = playerBar(root, { back, forward, play: toggle }, seek);
  keys(
    root,
    ({ target }) => ({
      ArrowLeft: back,
      ArrowRight: forward,
      ...(presents() && { PageUp: back, PageDown: forward }), // of a lecturer's clicker
      ...columns().find(column => column.svg === target)?.tree.keys,
      Home: () => seek(0),
      End: () => seek(limit()),
      ' ': toggle,
    }),
    { own: $('scrub') },
  );

  return { follow, ended, seek, draw };
}
