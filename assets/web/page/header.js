// The title line, which is always there: presenting, and what one tab wants of another that was never opened.

import { hear } from '../base/bus.js';
import { one } from '../base/dom.js';
import { onPage } from '../base/page.js';
import { present, presents } from '../base/present.js';
import { explainTerms } from '../base/terms.js';

/** @param {HTMLElement} element @param {() => void} openLab */
export function pageHeader(element, openLab) {
  const button = one(element, '.sv-present-button');
  const mark = () => {
    button.setAttribute('aria-pressed', String(presents()));
    button.textContent = presents() ? 'Exit' : 'Present';
    button.blur(); // space plays, as where the focus is nowhere
  };
  button.addEventListener('click', () => present(!presents()));
  onPage(element, 'keydown', event => { if (event.key === 'Escape' && !event.defaultPrevented) present(false); });
  onPage(element, 'fullscreenchange', () => { if (!document.fullscreenElement) present(false); });
  new MutationObserver(mark).observe(document.documentElement, { attributeFilter: ['class'] });
  explainTerms(element);
  hear('open-lab', element, openLab);
}
