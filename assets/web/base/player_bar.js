// The buttons, the slider and the place of a player: that of Explore goes through steps, that of
// Compare through time.

import { finder } from './dom.js';

/**
 * @param {ParentNode} root
 * @param {Record<'back' | 'forward' | 'play', () => void>} acts what the buttons do
 * @param {(at: number) => void} seek what the slider does
 */
export function playerBar(root, acts, seek) {
  const $ = finder(root);
  for (const [name, act] of Object.entries(acts)) $(name).onclick = act;
  $('scrub').oninput = () => seek($('scrub').valueAsNumber);

  /**
   * @param {number} at
   * @param {number} last
   * @param {string} place in words
   * @param {boolean} playing
   * @param {string} [rest] what Play would play
   */
  return (at, last, place, playing, rest = '') => {
    $('scrub').max = last;
    $('scrub').value = at;
    $('scrub').setAttribute('aria-valuetext', place);
    $('where').textContent = place;
    $('play').textContent = playing ? '❚❚ Pause' : `▶ Play${rest}`;
    $('play').setAttribute('aria-label', playing ? 'pause' : 'play');
  };
}
