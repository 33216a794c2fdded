// For the projector: large type and nothing but the pictures, over the whole screen where the browser allows it.

import { tell } from './bus.js';

const ROOT = document.documentElement;

export const presents = () => ROOT.classList.contains('sv-present');

/** @param {boolean} on */
export function present(on) {
  if (on === presents()) return;
  ROOT.classList.toggle('sv-present', on);
  // If the browser rejects full screen (inside another page, say), the page still has large type.
  if (on) ROOT.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  tell('type'); // pictures measure it when they are drawn
  requestAnimationFrame(() => window.dispatchEvent(new Event('resize'))); // and plotly when the window changes
}
