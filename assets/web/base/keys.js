// Keys of a part of the page. A letter or a digit acts only while the focus is inside that part, so that no one who
// speaks to the machine or mistypes sets off anything (WCAG 2.1.4); arrows and the like also while it is nowhere.

const TYPED = 'input, textarea, select, [contenteditable], [role=tab], [role=option], [role=slider]';
const PRESSED = 'button, summary, a';

/**
 * Whether a key is meant for the part `root`.
 * @param {Element} root
 * @param {KeyboardEvent} event
 * @param {Element | null} [own] a field in it that leaves its keys to it
 * @param {boolean} [near] keys that are no letters must be pressed in the part or nowhere in particular, rather than
 *   anywhere on the page
 */
export function meant(root, event, own = null, near = false) {
  const at = /** @type {Element} */ (event.target), inside = root.contains(at), letter = event.key.length === 1 && event.key !== ' ';
  if (event.ctrlKey || event.metaKey || event.altKey || !root.getClientRects().length) return false;
  if (at.matches(TYPED) && at !== own) return false;
  if (at.matches(PRESSED) && (event.key === ' ' || event.key === 'Enter')) return false;
  return inside || (!letter && (!near || at === document.body));
}

/**
 * @param {HTMLElement} root the part; its keys end when it leaves the page
 * @param {(event: KeyboardEvent) => Record<string, (() => void) | false | null | undefined>} acts what keys do now;
 *   letters in lower case
 * @param {{ own?: HTMLElement | null, first?: boolean }} more `first`: before the parts inside it see the key
 */
export function keys(root, acts, { own = null, first = false } = {}) {
  /** @param {KeyboardEvent} event */
  function heard(event) {
    if (!root.isConnected) return document.removeEventListener('keydown', heard, first);
    if (event.defaultPrevented || !meant(root, event, own, first)) return;
    const act = acts(event)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    if (first) event.stopImmediatePropagation();
    act();
  }
  document.addEventListener('keydown', heard, first);
}
