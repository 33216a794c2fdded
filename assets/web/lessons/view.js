// A view that stands in place of a run: its steps, a slider and a clock over them, and a sentence about the one shown.
// What it draws and says is computed on the server.

import { finder, say } from '../base/dom.js';

/** @typedef {import('./types.js').ShownRun} ShownRun */
/**
 * What draws a step into the picture; with `moved` it may show the way from the step that is drawn, `node` is what to
 * select in it.
 * @typedef {(data: any, step: number, moved: boolean, node: number | null) => void} Draw
 */
/** @typedef {(picture: HTMLElement) => Draw} View */

const PACE = 900; // milliseconds a step

/** @param {HTMLElement} box where lessons.html has it @param {Record<string, View>} views by name */
export function viewStage(box, views) {
  const $ = finder(box, 'sv-view-'), slider = $('step');
  let drawing = '', draw = /** @type {Draw | null} */ (null);
  let run = /** @type {ShownRun | null} */ (null), step = 0, timer = 0;

  /** @param {string} name @param {ShownRun} next @param {number} at @param {string | null} node */
  function show(name, next, at, node) {
    pause();
    const same = run === next;
    if (name !== drawing) {
      $('picture').replaceChildren();
      $('picture').className = `sv-view-picture sv-${name}`;
      draw = views[name]($('picture'));
      drawing = name;
    }
    run = next;
    slider.max = String(run.steps.length - 1);
    go(at, same, node === null ? null : Number(node));
  }

  /** @param {number} to @param {boolean} moved @param {number | null} [node] */
  function go(to, moved, node = null) {
    if (!run || !draw) return;
    step = Math.min(run.steps.length - 1, Math.max(0, to));
    const [where, said] = run.steps[step];
    slider.value = String(step);
    slider.setAttribute('aria-valuetext', where);
    $('at').textContent = where;
    say($('said'), said);
    $('back').disabled = step === 0;
    $('on').disabled = step === run.steps.length - 1;
    box.dataset.step = String(step);
    draw(run.data, step, moved, node);
  }

  function pause() {
    clearInterval(timer);
    timer = 0;
    $('play').textContent = 'Play';
  }

  function play() {
    if (!run) return;
    if (timer) return pause();
    if (step === run.steps.length - 1) go(0, true);
    $('play').textContent = 'Pause';
    timer = window.setInterval(() => {
      if (!run || !box.isConnected || !box.offsetParent) return pause();
      go(step + 1, true);
      if (step === run.steps.length - 1) pause();
    }, PACE);
  }

  /** @param {number} by */
  function turn(by) {
    pause();
    go(step + by, true);
  }

  slider.addEventListener('input', () => { pause(); go(Number(slider.value), true); });
  $('back').addEventListener('click', () => turn(-1));
  $('on').addEventListener('click', () => turn(1));
  $('play').addEventListener('click', play);
  return { show, turn, play, pause, at: () => step };
}
