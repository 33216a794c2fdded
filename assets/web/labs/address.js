// The node that the address of the page asks for, as `check` prints it for a rule that is wrong.

/** A number such as 0.25 or 1/4; NaN for anything else. @param {string} text */
function fraction(text) {
  const [over, under = '1'] = text.split('/').map(part => (/^[0-9.]+$/.test(part) ? part : 'none'));
  return Number(over) / Number(under);
}

/** From 1 to `most`. @param {string | null} text @param {number} most */
const whole = (text, most) => Math.min(most, Math.max(1, Math.trunc(Number(text)) || 1));

/**
 * What an address asks for: a node, and a sentence on it; null where it names no rows.
 * @param {string} search
 * @param {import('./types.js').Start} start
 * @returns {{ node: import('./types.js').LabNode | null, about: string } | null}
 */
export function linkedNode(search, { rules, schemes, names, most }) {
  const request = new URLSearchParams(search),
    rule = request.get('rule') ?? '',
    scheme = request.get('scheme') ?? '';
  if (!request.has('p') || !request.has('q')) return null;
  const [p, q] = ['p', 'q'].map(row => (request.get(row) ?? '').split(',').map(fraction));
  if (
    p.length !== q.length ||
    p.length < 2 ||
    p.length > names.length ||
    ![...p, ...q].every(Number.isFinite)
  ) {
    return {
      node: null,
      about:
        'The link was not opened: p and q must have one number for each of ' +
        `2 to ${names.length} tokens.`,
    };
  }
  const listed = rules.some(([name]) => name === rule);
  const node = {
    p,
    q,
    rule: listed ? rule : rules[0][0],
    scheme: schemes.some(([name]) => name === scheme) ? scheme : null,
    seed: 0,
    children: whole(request.get('children'), most.children),
    levels: whole(request.get('levels'), most.levels),
  };
  return {
    node,
    about:
      listed || !rule
        ? 'This node was opened from a link.'
        : `The rule “${rule.slice(0, 40)}” of the link is not available here. ` +
          'If it is a plugin, start the page with it.',
  };
}
