// Plain decoding beside a run: passes and time up to the step on the screen, as bars, and the sentence on the whole run.

import { query } from '../base/dom.js';

/** @typedef {import('./run.js').Run} Run */

const fraction = (/** @type {number} */ part, /** @type {number} */ whole) => (whole ? part / whole : 0);
const seconds = (/** @type {number} */ value) => (value < 1 ? `${(1000 * value).toFixed(0)} ms` : `${value.toFixed(value < 10 ? 2 : 1)} s`);

/** When and where a speedup of a saved run was measured. @param {import('../base/types.js').PairedSpeedup} against */
export function thenAndThere({ date, machine }) {
  const where = [date && `on ${date}`, machine && `on ${machine}`].filter(Boolean).join(', ');
  return where ? `; measured ${where}` : '; measured when it was recorded';
}

/**
 * Passes and seconds for the whole text of a run, both ways of decoding from the same measurement; null where nothing was timed.
 * @param {Run} run
 */
export function raceOf({ figures, against }) {
  if (!figures || !figures.tokens) return null;
  const { tokens, passes } = figures;
  return { tokens, passes, time: against?.seconds ? { plain: against.plain_seconds, ours: against.seconds } : null };
}

/**
 * The run in one sentence, in three parts.
 * @param {Run} run
 */
export function headlineOf({ figures, head }) {
  if (!figures?.per_pass) return null;
  const exact = head.settings ? `, ${head.lossy ? 'not exactly' : 'with exactly'} the target’s distribution` : ''; // else its rule is unknown
  return {
    strong: `${figures.per_pass.toFixed(1)} tokens per target pass`,
    text: 'instead of 1',
    small: `${figures.tokens} tokens in ${figures.passes} passes${exact}`,
  };
}

/**
 * @param {HTMLElement} element
 * @param {Run} run
 * @param {number} current the step on the screen
 */
export function writeRace(element, run, current) {
  const race = raceOf(run), { against } = run;
  const done = run.steps.slice(0, current + 1).reduce((sum, step) => sum + step.pieces.length, 0);
  /** @type {(name: string, whole: number, part: number, text: string) => void} */
  const bar = (name, whole, part, text) => {
    const line = query(element, `[data-race="${name}"]`), track = query(line, 'i');
    track.style.width = `${100 * Math.min(1, whole)}%`;
    track.firstElementChild.style.width = `${100 * Math.min(1, part)}%`;
    query(line, 'b').textContent = text;
  };
  const share = race ? fraction(done, race.tokens) : 0;
  bar('plain-passes', race ? 1 : 0, share, race ? `${race.tokens} passes` : '–');
  bar('passes', race ? fraction(race.passes, race.tokens) : 0, race ? fraction(current + 1, race.passes) : 0, race ? `${race.passes} passes` : '–');
  const time = race?.time, longest = time ? Math.max(time.plain, time.ours) : 1;
  bar('plain-time', time ? time.plain / longest : 0, share, time ? seconds(time.plain) : '–');
  bar('time', time ? time.ours / longest : 0, share, time ? seconds(time.ours) : '–');
  const rounds = against?.rounds ? `, ${against.low.toFixed(2)} to ${against.high.toFixed(2)} over ${against.rounds} rounds in turns${run.head.recorded ? thenAndThere(against) : ''}` : ', one recording of each';
  const missing = run.head.recorded ? 'Plain decoding was not recorded with this run.' : 'Plain decoding is timed when the run ends.';
  query(element, '.sv-beside-said').textContent = time && against ? `${against.speedup.toFixed(2)}× the speed of plain decoding${rounds}.` : missing;
}
