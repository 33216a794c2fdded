// Terms that explain themselves: in a text the first use of each takes the focus, and what is
// pointed at or has the focus shows what it means (page/style.css).

import { make } from './dom.js';
import { GLOSSARY } from './words.js';

const TERMS = new RegExp(
  `(?<![\\w[(/−“-]|[−/] )(${Object.keys(GLOSSARY)
    .sort((a, b) => b.length - a.length)
    .join('|')})(?![\\w\\]/]| [−/])`,
  'g',
);

/**
 * The nodes of a text, in which the first use of each term explains itself.
 * @param {string} text
 */
export function termed(text) {
  const seen = new Set();
  return text.split(TERMS).map((part, i) => {
    if (i % 2 === 0 || seen.has(part)) return part;
    seen.add(part);
    const meaning = GLOSSARY[GLOSSARY[part]] ?? GLOSSARY[part]; // another name of a term has that
    return make('span', part, { class: 'sv-term', tabindex: 0, 'aria-description': meaning });
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
