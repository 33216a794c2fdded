// The title line, which is always there: large type, and what one tab wants of another that was never opened.

import { hear, tell } from '../base/bus.js';
import { one } from '../base/dom.js';

const REMEMBERED = 'specviz-large-type';

/** @param {HTMLElement} element @param {() => void} openLab */
export function pageHeader(element, openLab) {
  const button = one(element, '.sv-large-type');
  const set = (/** @type {boolean} */ on) => {
    document.documentElement.classList.toggle('sv-big', on);
    button.setAttribute('aria-pressed', on);
    tell('type'); // pictures measure it when they are drawn
    try { localStorage.setItem(REMEMBERED, on ? '1' : ''); } catch { /* no storage, as in a private window: it only forgets */ }
  };
  button.addEventListener('click', () => set(button.getAttribute('aria-pressed') !== 'true'));
  try { if (localStorage.getItem(REMEMBERED)) set(true); } catch { /* no storage */ }
  hear('open-lab', element, openLab);
}
