// Keys of a part of the page. A letter or a digit acts only while the focus is inside that part, so
// that no one who speaks to the machine or mistypes sets off anything (WCAG 2.1.4); arrows and the
// like also while it is nowhere.

const TYPED =
  'input:not([type=radio]), textarea, select, [contenteditable], ' +
  '[role=tab], [role=option], [role=slider]';
const PRESSED = 'button, summary, a, [type=radio]:not(:checked)';

/**
 * @param {HTMLElement} root the part; its keys end when it leaves the page
 * @param {(event: KeyboardEvent) => Record<string, (() => void) | false | null | undefined>} acts
 *   what keys do now; letters in lower case
 * @param {{ own?: HTMLElement | null, first?: boolean }} more `own`: a field that leaves its keys
 *   to the part; `first`: before the parts inside it see the key, and of keys pressed elsewhere
 *   only those pressed nowhere in particular
 */
export function keys(root, acts, { own = null, first = false } = {}) {
  /** @param {KeyboardEvent} event */
  function heard(event) {
    if (!root.isConnected) return document.removeEventListener('keydown', heard, first);
    const at = /** @type {Element} */ (event.target),
      inside = root.contains(at),
      letter = event.key.length === 1 && event.key !== ' ';
    if (
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.shiftKey ||
      !root.getClientRects().length
    )
      return;
    if (at.matches(TYPED) && at !== own) return;
    if (at.matches('[type=radio]') && event.key.startsWith('Arrow')) return; // to the next choice
    if (at.matches(PRESSED) && (event.key === ' ' || event.key === 'Enter')) return;
    if (!inside && (letter || (first && at !== document.body))) return;
    const act = acts(event)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    if (first) event.stopImmediatePropagation();
    act();
  }
  document.addEventListener('keydown', heard, first);
}
