// The title line, which is always there: presenting, the theme, and what one tab wants of another
// that was never opened.

import { subscribe } from '../base/bus.js';
import { query, queryAll } from '../base/dom.js';
import { closedByEscape } from '../base/escape.js';
import { onPage, present, presents } from '../base/page.js';
import { followTabs, openTab } from './address.js';

/** @param {{ element: HTMLElement }} host */
export function pageHeader({ element }) {
  query(element, '.sv-theme-button').onclick = () => document.body.classList.toggle('dark');
  const button = query(element, '.sv-present-button');
  button.onclick = () => {
    present(!presents());
    button.blur(); // space plays, as where the focus is nowhere
  };
  query(element, '.sv-skip').onclick = () => {
    const panel = queryAll(document, '[role=tabpanel]').find(one => one.offsetParent);
    panel.tabIndex = -1;
    (panel.querySelector('#sv-stage .sv-svg') ?? panel).focus();
  };
  // Gradio's choices are groups of one: Tab would stop at each, and arrows would move nothing.
  onPage(element, 'keydown', () => {
    for (const box of queryAll(document, '.sv-choice')) {
      const choices = queryAll(box, 'input');
      for (const choice of choices) choice.name = choices[0].name;
    }
  });
  closedByEscape(element, 'page', () => {
    const wasPresented = presents();
    present(false);
    return wasPresented;
  });
  onPage(element, 'fullscreenchange', () => {
    if (!document.fullscreenElement) present(false);
  });
  followTabs();
  subscribe('open-tab', element, openTab);
}
