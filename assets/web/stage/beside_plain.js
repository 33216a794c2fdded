// Plain decoding beside a run: passes and time up to the step on the screen, as bars, and the sentences on the whole run.

import { query } from '../base/dom.js';

/** @typedef {import('./run.js').Run} Run */

const fraction = (/** @type {number} */ part, /** @type {number} */ whole) => (whole ? part / whole : 0);
const seconds = (/** @type {number} */ value) => (value < 1 ? `${(1000 * value).toFixed(0)} ms` : `${value.toFixed(value < 10 ? 2 : 1)} s`);

/** When and where a speedup of a saved run was measured. @param {PairedSpeedup} against */
export function thenAndThere({ date, machine }) {
  return [date || 'when it was recorded', machine].filter(Boolean).join(', ');
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

/** The run in one sentence, in three parts. @param {Run} run */
export function headlineOf({ figures, head, against }) {
  if (!figures?.per_pass) return null;
  const exact = !head.settings ? '' : head.lossy ? 'not exact' : head.declared ? 'declared exact by its rule, not proven here' : 'exact'; // else its rule is unknown
  const weights = head.offload ? 'weights on disk' : '';
  return {
    strong: `${figures.per_pass.toFixed(1)} tokens per target pass`,
    text: against ? `, ${against.speedup.toFixed(1)}× plain decoding` : ' instead of 1',
    small: [exact, weights, head.recorded && (head.badge || 'recorded')].filter(Boolean).join(' · '),
  };
}

/** @param {HTMLElement} element @param {Run} run @param {number} current the step on the screen */
export function writeRace(element, run, current) {
  const race = raceOf(run), { against } = run;
  const done = run.steps.slice(0, current + 1).reduce((sum, step) => sum + step.pieces.length, 0);
  /** @type {(name: string, whole: number, part: number, text: string) => void} */
  const bar = (name, whole, part, text) => {
    const line = query(element, `[data-race="${name}"]`), track = query(line, 'i', HTMLElement);
    track.style.width = `${100 * Math.min(1, whole)}%`;
    query(track, 'u', HTMLElement).style.width = `${100 * Math.min(1, part)}%`;
    query(line, 'b').textContent = text;
  };
  const part = race ? fraction(done, race.tokens) : 0, time = race?.time, longest = time ? Math.max(time.plain, time.ours) : 1;
  bar('plain-passes', race ? 1 : 0, part, race ? `${race.tokens} passes` : '–');
  bar('passes', race ? fraction(race.passes, race.tokens) : 0, race ? fraction(current + 1, race.passes) : 0, race ? `${race.passes} passes` : '–');
  bar('plain-time', time ? time.plain / longest : 0, part, time ? seconds(time.plain) : '–');
  bar('time', time ? time.ours / longest : 0, part, time ? seconds(time.ours) : '–');
  const missing = run.head.recorded ? 'Plain decoding was not timed with this run.' : 'Plain decoding is timed when the run ends.';
  query(element, '.sv-beside-said').textContent = time && against
    ? `${against.speedup.toFixed(2)}× as fast (${against.low.toFixed(2)} to ${against.high.toFixed(2)} over ${against.rounds} rounds${run.head.recorded ? `, ${thenAndThere(against)}` : ''})` : missing;
}
