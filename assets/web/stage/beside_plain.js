// A run beside plain decoding, in one sentence.

/** @typedef {import('./run.js').Run} Run */

const LOADED_APART =
  'Weights in memory and on disk are loaded separately, once each. The previous run stays below.';
const WIDE = 1.2; // the best round over the worst, from which on their mean is about right only
const FASTER = 'times as fast as plain decoding';

/** How many times as fast, with the same digits wherever it stands. @param {number} speedup */
export const timesText = speedup => speedup.toFixed(speedup < 1 ? 2 : 1);

/**
 * Whether its text has the target's distribution, as far as its rule is known.
 * @param {Partial<Head>} head
 */
function exactness({ settings, lossy, declared }) {
  if (!settings) return '';
  if (lossy) return 'not exact';
  return declared ? 'declared exact by its rule, not proven here' : 'exact';
}

/**
 * The run in one sentence, in three parts.
 * @param {Run} run
 * @returns {Omit<Headline, 'stale'> | null}
 */
export function headlineOf(run) {
  const { figures, head, speedup, state, note, done, origin, timing } = run;
  if (state === 'loading') {
    return { strong: note, text: '', small: LOADED_APART, done };
  }
  if (!figures?.per_pass) return null;
  const timed = state === 'running' ? null : speedup;
  const isVague = timed && timed.high > WIDE * timed.low;
  const slow = timed && timed.speedup < 1 ? slowReason(timed, figures) : '';
  const seed = new URLSearchParams(head.settings).get('seed');
  const perPass = `${figures.per_pass.toFixed(1)} tokens per target pass`;
  const parts = [
    head.in_memory && `weights not on disk: ${head.in_memory}`,
    slow,
    timed && `${perPass} instead of 1`,
    timed && timed.speedup > figures.per_pass && 'timed without the first pass',
    // by the service, not by its visitor
    timing && !timed && state === 'done' && !note && 'not timed, as other work came first',
    exactness(head),
    head.badge,
    origin === 'run' && `seed ${seed}`,
  ];
  return {
    strong: timed ? `${isVague ? 'about ' : ''}${timesText(timed.speedup)} ${FASTER}` : perPass,
    text: timed ? `, weights ${head.offload ? 'on disk' : 'in memory'}` : ' instead of 1',
    small: parts.filter(Boolean).join(' · '),
    slow: Boolean(timed && timed.low < 1),
    inMemory: Boolean(head.in_memory),
  };
}

/**
 * What a step costs where speculation does not pay.
 * @param {PairedSpeedup} against
 * @param {Figures} figures
 */
function slowReason({ speedup }, { per_pass: perPass }) {
  const passes = ((perPass ?? 0) / speedup).toFixed(1);
  return `a step costs as much as ${passes} plain passes here`;
}
