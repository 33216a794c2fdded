// A place in a run, in the words of a link: step=5&node=3, steps counted from 1 as on the page, a
// node by its number or "last" for the target's own token. Anyone may write a link: what is out of
// range is brought into range.

/** @typedef {{ of: string, index: number, key: string | null }} Place */

/** @param {number} index @param {string | number | null} [key] */
export function placeText(index, key) {
  const place = new URLSearchParams({ step: String(index + 1) });
  const node = String(key);
  if (/^(\d+|last)$/.test(node)) place.set('node', node);
  return place.toString();
}

/**
 * What an address asks for of a run; null where it asks for no step.
 * @param {string} search
 * @returns {Place | null}
 */
export function placeOf(search) {
  const request = new URLSearchParams(search);
  const step = Math.trunc(Number(request.get('step'))) || 0;
  if (request.has('lesson') || !step) return null;
  return {
    of: request.get('picture') ?? 'run',
    index: Math.max(0, step - 1),
    key: request.get('node'),
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
    there = key === 'last' ? steps[at].last : steps[at].parents[Number(key)] !== undefined;
  return { index: at, key: there ? key : null };
}
