// Terms that explain themselves: in a text the first use of each takes the focus, and whatever is
// pointed at or has the focus says what it means.

import { make } from './dom.js';
import { closedByEscape } from './escape.js';
import { onPage } from './page.js';
import { GLOSSARY } from './words.js';

const TERMS = new RegExp(
  `(?<![\\w[(/−“-]|[−/] )(${Object.keys(GLOSSARY)
    .sort((a, b) => b.length - a.length)
    .join('|')})(?![\\w\\]/]| [−/])`,
  'g',
);
const GAP = 6;

/**
 * The nodes of a text, in which the first use of each term explains itself.
 * @param {string} text
 */
export function termed(text) {
  const seen = new Set();
  return text.split(TERMS).map((part, i) => {
    if (i % 2 === 0 || seen.has(part)) return part;
    seen.add(part);
    return make('span', part, { class: 'sv-term', tabindex: 0 });
  });
}

/**
 * The same in place of what an element says; a text that stays is not written again.
 * @param {Element} node
 * @param {string} text
 */
export function sayTerms(node, text) {
  if (node.textContent !== text) node.replaceChildren(...termed(text));
}

/** Shows what a term means, as long as `element` is on the page. @param {HTMLElement} element */
export function explainTerms(element) {
  const tip = make('div', '', { class: 'sv-tip', id: 'sv-tip', role: 'tooltip', hidden: true });
  element.append(tip);

  /** @param {Event} event */
  function show({ target }) {
    const term = /** @type {Element} */ (target).closest?.('.sv-term');
    if (!term) return;
    const meaning = GLOSSARY[term.textContent ?? ''];
    tip.textContent = GLOSSARY[meaning] ?? meaning; // another name of a term has that as its own
    tip.hidden = false;
    term.setAttribute('aria-describedby', tip.id);
    const at = term.getBoundingClientRect(),
      below = at.bottom + GAP + tip.offsetHeight <= innerHeight;
    tip.style.left = `${Math.max(GAP, Math.min(at.left, innerWidth - tip.offsetWidth - GAP))}px`;
    tip.style.top = `${below ? at.bottom + GAP : at.top - GAP - tip.offsetHeight}px`;
  }
  function hide() {
    tip.hidden = true;
    return true;
  }
  for (const kind of ['pointerover', 'focusin']) onPage(element, kind, show);
  for (const kind of ['pointerout', 'focusout'])
    onPage(element, kind, event => {
      if (event.target.closest?.('.sv-term')) hide();
    });
  onPage(element, 'scroll', hide, window);
  onPage(element, 'resize', hide, window); // presenting takes away what is pointed at
  closedByEscape(element, 'tip', () => !tip.hidden && hide());
}
