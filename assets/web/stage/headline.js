// The sentence above everything: what the run on the stage shows.

import { subscribe } from '../base/bus.js';
import { query } from '../base/dom.js';
import { sayTerms } from '../base/terms.js';

/** @param {HTMLElement} element */
export function headline(element) {
  subscribe('headline', element, ({ strong, text, small, stale }) => {
    const line = query(element, '.sv-headline');
    line.classList.toggle('stale', stale);
    sayTerms(query(line, 'em'), strong);
    sayTerms(query(line, 'span'), text);
    sayTerms(query(line, 'small'), stale ? 'The settings changed: press Run.' : small);
  });
}

/** A button that shows and hides another part of the page. @param {HTMLElement} element */
export function opener(element) {
  const button = query(element, 'button');
  button.addEventListener('click', () => {
    const shown = document.getElementById(button.getAttribute('aria-controls'))?.classList.toggle('sv-shown') ?? false;
    button.setAttribute('aria-expanded', String(shown));
  });
}
