// The node that the address of the page asks for, as `check` prints it for a rule that is wrong.

/** @typedef {import('./types.js').Start} Start */
/** @typedef {import('./types.js').LabNode} LabNode */

const LONGEST = 40; // characters of a name that are shown

/**
 * What an address asks for: a node, and a sentence on it; null where it names no rows.
 * @param {string} search
 * @param {Start} start
 * @returns {{ node: LabNode | null, about: string } | null}
 */
export function linkedNode(search, start) {
  const asked = new URLSearchParams(search), name = asked.get('rule') || '';
  if (!asked.has('p') || !asked.has('q')) return null;
  const [p, q] = ['p', 'q'].map(row => (asked.get(row) || '').split(',').map(share));
  const { children, levels } = start.most, tokens = start.names.length;
  if (p.length !== q.length || p.length < 2 || p.length > tokens || ![...p, ...q].every(Number.isFinite)) {
    return { node: null, about: `The link was not opened: p and q must have one number for each of 2 to ${tokens} tokens.` };
  }
  const known = start.rules.some(([rule]) => rule === name), scheme = asked.get('scheme') || '';
  const node = {
    p, q, rule: known ? name : start.rules[0][0], scheme: start.schemes.some(([other]) => other === scheme) ? scheme : null, seed: 0,
    children: whole(asked.get('children'), children), levels: whole(asked.get('levels'), levels),
  };
  if (known || !name) return { node, about: 'This node was opened from a link.' };
  const shown = name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name;
  return { node, about: `The rule “${shown}” of the link is not available here. If it is a plugin, start the page with it.` };
}

/** A number such as 0.25 or 1/4; NaN for anything else. @param {string} text */
function share(text) {
  const [over, under = '1'] = text.split('/').map(part => (/^[0-9.]+$/.test(part) ? part : 'none'));
  return Number(over) / Number(under);
}

/** A whole number from 1 to `most`, 1 for anything else. @param {string | null} text @param {number} most */
function whole(text, most) {
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= most ? number : 1;
}
