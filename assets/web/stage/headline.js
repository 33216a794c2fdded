// The sentence above everything: what the run on the stage shows.

import { subscribe } from '../base/bus.js';
import { query } from '../base/dom.js';
import { sayTerms } from '../base/terms.js';

/** @param {HTMLElement} element */
export function headline(element) {
  subscribe('headline', element, ({ strong, text, small, stale }) => {
    const line = query(element, '.sv-headline');
    line.classList.toggle('stale', stale);
    const [first, second, third] = line.children;
    sayTerms(first, strong);
    sayTerms(second, text);
    sayTerms(third, stale ? 'The settings changed: press Run.' : small);
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
