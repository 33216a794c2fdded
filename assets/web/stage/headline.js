// The sentence above everything: what the run on the stage shows, and whether the controls hold
// something else by now.

import { subscribe } from '../base/bus.js';
import { query } from '../base/dom.js';
import { onPage } from '../base/page.js';
import { sayTerms } from '../base/terms.js';
import { isOver } from './run.js';

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
    const isOpen =
      document.getElementById(button.getAttribute('aria-controls'))?.classList.toggle('sv-shown') ??
      false;
    button.setAttribute('aria-expanded', String(isOpen));
  });
}

/**
 * @param {HTMLElement} element
 * @param {string} prompt selects the box of the prompt
 * @param {() => void} changed
 */
export function freshness(element, prompt, changed) {
  let controls = /** @type {Held | null} */ (null),
    first = '';
  onPage(element, 'input', ({ target }) => {
    if (target.closest?.(prompt)) changed();
  });

  return {
    /** What the controls hold now. @param {Held} now */
    hold(now) {
      first ||= now.models;
      controls = now;
      changed();
    },
    /** @param {import('./run.js').Run} run */
    stale(run) {
      const { settings, prompt: begun } = run.head,
        { models } = run,
        box = /** @type {HTMLTextAreaElement | null} */ (
          document.querySelector(`${prompt} :is(textarea, input)`)
        );
      if (!controls || !settings || !(isOver(run) || run.state === 'loading')) return false;
      return (
        controls.settings !== settings ||
        controls.models !== (models ?? first) ||
        (box !== null && box.value !== begun)
      );
    },
  };
}
