// A place in a run, in the words of a link: step=5&node=3, steps counted from 1 as on the page, a
// node by its number or "last" for the target's own token. Anyone may write a link: what is out of
// range is brought into range.

/** @typedef {{ of: string, recording: number, index: number, key: string | null }} Place */

/** @param {number} index @param {string | number | null} [key] */
export function placeText(index, key) {
  const place = new URLSearchParams({ step: String(index + 1) });
  const node = String(key);
  if (/^(\d+|last)$/.test(node)) place.set('node', node);
  return place.toString();
}

/**
 * What an address asks for, of a lesson or of a run; null where it asks for no step there.
 * @param {string} search
 * @param {boolean} lesson
 * @returns {Place | null}
 */
export function placeOf(search, lesson) {
  const request = new URLSearchParams(search);
  /** @type {(name: string, form: RegExp) => string | undefined} */
  const valueOf = (name, form) => request.get(name)?.trim().match(form)?.[0];
  const step = valueOf('step', /^-?\d{1,9}$/);
  if (request.has('lesson') !== lesson || step === undefined) return null;
  return {
    of: valueOf('picture', /^recorded[\w.-]{0,60}$/) ?? 'run',
    recording: Number(valueOf('recording', /^\d{1,3}$/) ?? 0),
    index: Math.max(0, Number(step) - 1),
    key: valueOf('node', /^(\d{1,6}|last)$/) ?? null,
  };
}

/**
 * The place as it exists in a run that has these steps: the last step instead of a later one, no
 * node that is not there.
 * @param {Sent[]} steps
 * @param {Pick<Place, 'index' | 'key'>} place
 */
export function placeIn(steps, { index, key }) {
  const at = Math.min(index, steps.length - 1),
    there = key === 'last' ? steps[at].last : Number(key) < steps[at].parents.length;
  return { index: at, key: there ? key : null };
}
