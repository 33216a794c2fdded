// Plain decoding beside a run: passes and time up to the step on the screen, as bars, and the
// sentences on the whole run.

import { query } from '../base/dom.js';

/** @typedef {import('./run.js').Run} Run */

const fraction = (/** @type {number} */ part, /** @type {number} */ whole) =>
  whole ? part / whole : 0;
const seconds = (/** @type {number} */ value) =>
  value < 1 ? `${(1000 * value).toFixed(0)} ms` : `${value.toFixed(value < 10 ? 2 : 1)} s`;

/** The run in one sentence, in three parts. @param {Run} run */
export function headlineOf({ figures, head, against, state, note }) {
  if (state === 'loading')
    return { strong: note, text: '', small: 'The picture is still that of the run before.' };
  if (!figures?.per_pass) return null;
  const exact = !head.settings
    ? ''
    : head.lossy
      ? 'not exact'
      : head.declared
        ? 'declared exact by its rule, not proven here'
        : 'exact'; // else its rule is unknown
  const weights = head.offload ? 'weights on disk' : '';
  return {
    strong: `${figures.per_pass.toFixed(1)} tokens per target pass`,
    text:
      against && state !== 'running'
        ? `, ${against.speedup.toFixed(1)}× plain decoding`
        : ' instead of 1',
    small: [exact, weights, head.recorded && (head.badge || 'recorded')]
      .filter(Boolean)
      .join(' · '),
  };
}

/** @param {HTMLElement} element @param {Run} run @param {number} current the step on the screen */
export function writeRace(element, { against, figures, head, steps }, current) {
  const { tokens = 0, passes = 0 } = figures ?? {},
    { plain_seconds: plain = 0, seconds: ours = 0 } = against ?? {};
  const part = fraction(
      steps.slice(0, current + 1).reduce((sum, step) => sum + step.pieces.length, 0),
      tokens,
    ),
    longest = Math.max(plain, ours);
  /** @type {(name: string, whole: number, part: number, text: string | false) => void} */
  const bar = (name, whole, done, text) => {
    const line = query(element, `[data-race="${name}"]`),
      track = query(line, 'i', HTMLElement);
    track.style.width = `${100 * Math.min(1, whole)}%`;
    query(track, 'u', HTMLElement).style.width = `${100 * Math.min(1, done)}%`;
    query(line, 'b').textContent = text || '–';
  };
  bar('plain-passes', tokens && 1, part, tokens > 0 && `${tokens} passes`);
  bar(
    'passes',
    fraction(passes, tokens),
    fraction(current + 1, passes),
    tokens > 0 && `${passes} passes`,
  );
  bar('plain-time', fraction(plain, longest), part, ours > 0 && seconds(plain));
  bar('time', fraction(ours, longest), part, ours > 0 && seconds(ours));
  query(element, '.sv-beside-said').textContent = against
    ? `${against.speedup.toFixed(2)}× as fast (${against.rounds} rounds, each ${against.low.toFixed(2)} to ${against.high.toFixed(2)})`
    : head.recorded
      ? 'Plain decoding was not timed with this run.'
      : 'Plain decoding is timed when the run ends.';
}
