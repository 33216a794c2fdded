// For the projector: large type and nothing but the pictures, over the whole screen where the browser allows it.

import { publish } from './bus.js';

export const presents = () => document.documentElement.classList.contains('sv-present');

/** @param {boolean} on */
export function present(on) {
  if (on === presents()) return;
  const root = document.documentElement;
  root.classList.toggle('sv-present', on);
  // If the browser rejects full screen (inside another page, say), the page still has large type.
  if (on) root.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  publish('type'); // pictures measure it when they are drawn
  requestAnimationFrame(() => window.dispatchEvent(new Event('resize'))); // and plotly when the window changes
}
