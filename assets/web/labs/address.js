// The node that the address of the page asks for, as `check` prints it for a rule that is wrong.
// The server checks what it holds, like what is set by hand.

/** A number such as 0.25 or 1/4. @param {string} text */
function fraction(text) {
  const [over, under = 1] = text.split('/').map(Number);
  return over / under;
}

/** @param {string} search */
export function linkedNode(search) {
  const parameters = Object.fromEntries(new URLSearchParams(search));
  const { p, q, rule, scheme, children = 1, levels = 1 } = parameters;
  if (!p || !q) return null;
  const [target, draft] = [p, q].map(row => row.split(',').map(fraction));
  const sizes = { children: Number(children), levels: Number(levels) };
  return { p: target, q: draft, rule, scheme, ...sizes };
}
