// The node that the address of the page asks for, as `check` prints it for a rule that is wrong.

/** @typedef {Partial<import('./types.js').LabNode> & { p: number[] }} Asked */

/** A number such as 0.25 or 1/4; NaN for anything else. @param {string} text */
function fraction(text) {
  const [over, under = '1'] = text.split('/').map(part => (/^[0-9.]+$/.test(part) ? part : 'none'));
  return Number(over) / Number(under);
}

/** From 1 to `most`. @param {string | undefined} text @param {number} most */
const whole = (text, most) => Math.min(most, Math.max(1, Math.trunc(Number(text)) || 1));

/**
 * What an address asks for: a node, and a sentence on it; null where it names no rows.
 * @param {string} search
 * @param {Pick<import('./types.js').Start, 'rules' | 'names' | 'most'>} start
 * @returns {{ node: Asked | null, about: string } | null}
 */
export function linkedNode(search, { rules, names, most }) {
  const { p: target, q: draft, rule, scheme, ...sizes } = Object.fromEntries(
    new URLSearchParams(search),
  );
  if (target === undefined || draft === undefined) return null;
  const [p, q] = [target, draft].map(row => row.split(',').map(fraction));
  const isFitting = p.length === q.length && p.length > 1 && p.length <= names.length;
  if (!isFitting || ![...p, ...q].every(Number.isFinite)) {
    const sizesOf = `2 to ${names.length} tokens`;
    const about = `The link was not opened: p and q must have one number for each of ${sizesOf}.`;
    return { node: null, about };
  }
  const children = whole(sizes.children, most.children);
  const levels = whole(sizes.levels, most.levels);
  let about = 'This node was opened from a link.';
  if (rule && !rules.some(([name]) => name === rule))
    about =
      `The rule “${rule.slice(0, 40)}” of the link is not available here. ` +
      'If it is a plugin, start the page with it.';
  return { node: { p, q, rule, scheme, children, levels }, about };
}
