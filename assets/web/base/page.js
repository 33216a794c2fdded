// What belongs to the whole page: listeners that end with the element they serve, and whether it is
// presented on a projector, in large type and with nothing but the pictures.

import { closedByEscape } from './escape.js';
import { keys } from './keys.js';

/**
 * @param {Element} element
 * @param {string} kind
 * @param {(event: any) => void} listen
 * @param {EventTarget} [target]
 */
export function onPage(element, kind, listen, target = document) {
  /** @param {Event} event */
  function heard(event) {
    if (element.isConnected) listen(event);
    else target.removeEventListener(kind, heard);
  }
  target.addEventListener(kind, heard);
}

/**
 * Draws whenever an element or the type of the page, which need not change it, has another size.
 * @param {HTMLElement | SVGElement} element
 * @param {() => void} draw
 */
export function onResize(element, draw) {
  new ResizeObserver(draw).observe(element);
  onPage(element, 'resize', draw, window);
}

/**
 * Opens a file that is dropped anywhere on the page while an element is seen; otherwise the browser
 * would leave the page.
 * @param {HTMLElement} element
 * @param {(file: File) => void} open
 */
export function onDrop(element, open) {
  onPage(element, 'dragover', event => event.preventDefault());
  onPage(element, 'drop', event => {
    const [file] = event.dataTransfer.files;
    if (!file || !element.getClientRects().length) return; // text, which the browser inserts
    event.preventDefault();
    open(file);
  });
}

/**
 * Draws once in the next frame of the browser, however often it is called until then.
 * @param {(now: number) => void} draw gets the time of the frame
 */
export function onceAFrame(draw) {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(now => {
      isWaiting = false;
      draw(now);
    });
  };
}

/**
 * What opens over the page closes when something beside it is pressed, or with Escape; a menu also
 * when something in it is.
 * @param {HTMLDetailsElement} details
 */
export function menu(details) {
  const summary = /** @type {HTMLElement} */ (details.firstElementChild);
  function close() {
    const wasOpen = details.open;
    details.open = false;
    if (wasOpen) summary.focus();
    return wasOpen;
  }
  onPage(details, 'pointerdown', ({ target }) => {
    if (!details.contains(target)) details.open = false;
  });
  /** Before what is pressed acts, which may want the focus. @param {any} event */
  const pressed = ({ target }) => target.closest('.sv-menu button') && close();
  details.addEventListener('click', pressed, true);
  closedByEscape(details, 'menu', close);
  return details;
}

export const presents = () => document.documentElement.id === 'sv-present';

/**
 * Presented, the parts of a box fill the screen one by one, and keys go to the next.
 * @param {HTMLElement} box
 * @returns {(by: number) => void} turns so many pages
 */
export function turnsPages(box) {
  /** @param {number} by */
  const turn = by => box.scrollBy(0, by * box.clientHeight);
  const next = () => turn(1);
  const back = () => turn(-1);
  const acts = { ' ': next, ArrowRight: next, PageDown: next, ArrowLeft: back, PageUp: back };
  keys(box, () => (presents() ? acts : {}));
  return turn;
}

/** Over the whole screen where the browser allows it. @param {boolean} on */
export function present(on) {
  if (on === presents()) return;
  const root = document.documentElement;
  root.id = on ? 'sv-present' : '';
  // If the browser rejects full screen (inside another page, say), the page still has large type.
  if (on) root.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  // pictures measure the type when they are drawn
  requestAnimationFrame(() => window.dispatchEvent(new Event('resize')));
}
