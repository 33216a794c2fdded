// The sentence above everything: what the run on the stage shows, and whether the controls hold
// something else by now.

import { publish, subscribe } from '../base/bus.js';
import { fieldIn, query } from '../base/dom.js';
import { closedByEscape } from '../base/escape.js';
import { onPage } from '../base/page.js';
import { sayTerms } from '../base/terms.js';
import { isOver, takeStop } from './run.js';

/** @param {{ element: HTMLElement }} host */
export function headline({ element }) {
  query(element, '.sv-newcomer').onclick = () => publish('open-tab', 'lessons');
  subscribe('headline', element, ({ strong, text, small, done, slow, inMemory, stale }) => {
    const line = query(element, '.sv-headline');
    line.classList.toggle('stale', stale !== '');
    line.classList.toggle('slow', slow ?? false);
    line.classList.toggle('in-memory', inMemory ?? false);
    line.classList.toggle('loads', done !== undefined);
    const bar = query(element, '.sv-progress');
    bar.hidden = typeof done !== 'number';
    bar.value = done ?? 0;
    const [first, second, third] = line.children;
    sayTerms(first, strong);
    sayTerms(second, text);
    sayTerms(third, stale || small);
  });
}

/** A button that shows and hides another part. @param {{ element: HTMLElement }} host */
export function opener({ element }) {
  const opens = query(element, 'button');
  const part = () => query(document, `#${opens.getAttribute('aria-controls')}`);
  const isOpen = () => opens.ariaExpanded === 'true';

  /** @param {boolean} now */
  function show(now) {
    part().classList.toggle('sv-opened', now);
    opens.ariaExpanded = now;
    dispatchEvent(new Event('resize')); // figures and trees have another width
  }
  opens.onclick = () => show(!isOpen());
  onPage(element, 'click', ({ target }) => {
    // What runs may stand below it, but not beside it.
    const isBeside = isOpen() && getComputedStyle(part()).position === 'absolute';
    if (isOpen() && !isBeside && target.matches('.sv-ask > .primary')) show(false);
  });
  closedByEscape(element, 'drawer', () => {
    if (!isOpen()) return false;
    opens.click();
    opens.focus();
    return true;
  });
}

// the controls of Explore
const PROMPT = '#sv-prompt';
const RUN = '#sv-run';
const STOP = '#sv-stop:not(:disabled)'; // while something goes on
const SEED = '#sv-settings input[aria-label="Seed"]';

/**
 * Whether the controls hold something else than a run; a run of the same settings gets the next
 * seed.
 * @param {HTMLElement} element
 * @param {() => void} changed
 * @param {() => import('./run.js').Run} currentRun
 */
export function freshness(element, changed, currentRun) {
  /** @type {Held | null} */
  let controls = null;
  let isAwaited = false; // since Run was pressed, until a run is put on the screen
  const box = () => fieldIn(PROMPT);
  onPage(element, 'input', ({ target }) => {
    if (target.closest?.(PROMPT)) changed();
  });

  /**
   * Whether the controls hold something else than the run.
   * @param {import('./run.js').Run} run
   */
  function differs({ head, models, weights }) {
    if (!controls || !head.settings) return false;
    return (
      controls.settings !== head.settings ||
      // a file does not say where its pair stands in the menus
      controls.models !== (models ?? controls.models) ||
      controls.weights !== (weights ?? controls.weights) ||
      box()?.value !== head.prompt
    );
  }

  /** Sets the next seed before a second run of the same settings begins. @param {any} event */
  function advance(event) {
    const run = currentRun();
    const begins =
      event.type === 'click'
        ? event.target.closest?.(RUN)
        : event.key === 'Enter' && !event.shiftKey && event.target === box();
    if (begins) {
      isAwaited = true;
      changed();
    }
    /** @type {HTMLInputElement | null} */
    const seed = document.querySelector(SEED);
    const goesOn = document.querySelector(STOP) !== null;
    if (!begins || goesOn || !seed) return;
    if (run.origin !== 'run' || !isOver(run) || differs(run)) return;
    seed.value = String(Number(seed.value) + 1);
    seed.dispatchEvent(new Event('input', { bubbles: true }));
  }
  // before gradio sees them
  for (const kind of ['click', 'keydown']) document.addEventListener(kind, advance, true);
  subscribe('settings', element, now => {
    controls = now;
    changed();
  });

  return {
    /** Why a run is not what the controls hold. @param {import('./run.js').Run} run */
    stale(run) {
      if (!isOver(run)) return '';
      if (isAwaited) return 'A run begins. Below is the previous one.';
      return differs(run) ? 'Below is another run: press Run to compute this one.' : '';
    },
    /**
     * Whether a run is awaited as a message comes; one of no run says that it failed or stopped.
     * @param {Message} message
     */
    awaits(message) {
      const wasAwaited = isAwaited;
      if (!message.run && message.state !== 'loading') isAwaited = false;
      return wasAwaited;
    },
    /**
     * Another run is put on the screen, where what loads is not announced.
     * @param {import('./run.js').Run} run
     */
    leave(run) {
      isAwaited = false;
      if (run.state === 'loading') takeStop(run);
    },
  };
}
