// The sentence above everything: what the run on the stage shows.

import { hear } from '../base/bus.js';
import { one, say } from '../base/dom.js';

/** @param {HTMLElement} element */
export function headline(element) {
  hear('headline', element, ({ strong, text, small, stale }) => {
    const line = one(element, '.sv-headline');
    line.classList.toggle('stale', stale);
    say(one(line, 'em'), strong);
    say(one(line, 'span'), text);
    say(one(line, 'small'), stale ? 'Not run yet.' : small);
  });
}

/** A button that shows and hides another part of the page. @param {HTMLElement} element */
export function opener(element) {
  const button = one(element, 'button');
  button.addEventListener('click', () => {
    const shown = document.getElementById(button.getAttribute('aria-controls'))?.classList.toggle('sv-shown') ?? false;
    button.setAttribute('aria-expanded', String(shown));
  });
}
