// "Is it exact?": how often the next two tokens were written, with speculation and without, beside
// their exact probabilities. Texts come from models, so they only become text nodes.

import { barTable } from '../base/bars.js';
import { query } from '../base/dom.js';
import { menu } from '../base/page.js';
import { visible } from '../base/text.js';

/**
 * What app/tabs/explore/sampler.py sends: counts by text, the last of which is all others; or
 * only a state and a sentence.
 * @typedef {{ state: 'running' | 'done' | 'stopped' | 'error', text?: string, about?: string,
 *   runs?: number, of?: number, left?: string, pieces?: string[], exact?: number[],
 *   speculated?: number[], plain?: number[] }} Message
 */

const percent = (/** @type {number} */ value) => `${(100 * value).toFixed(1)} %`;
/** @param {number} number */
const grouped = number => number.toLocaleString('en');

/**
 * @param {HTMLElement} element
 * @param {{ stop: string }} about the id of the button that stops the runs of the tab
 * @param {() => void} ask
 */
export function sampledTexts(element, { stop }, ask) {
  const start = query(element, '.sv-sampled-start');
  const stopping = query(element, '.sv-sampled-stop');
  const status = query(element, '.sv-sampled-count');
  menu(query(element, 'details')); // it lies over the page
  let busy = false;
  let count = ''; // of the runs so far
  start.onclick = () => {
    set(true);
    status.textContent = 'waiting';
    ask();
  };
  stopping.onclick = () => document.getElementById(stop)?.click();

  /** @param {boolean} now */
  function set(now) {
    busy = now;
    start.hidden = now;
    stopping.hidden = !now;
  }

  /** @param {string} text a message */
  return text => {
    if (!text) return;
    /** @type {Message} */
    const message = JSON.parse(text);
    if (message.state === 'stopped' && !busy) return; // something else was stopped
    set(message.state === 'running');
    if (message.pieces) {
      const { pieces, speculated = [], plain = [], exact = [], runs: done = 0, of = 0 } = message;
      count = `${grouped(done)} of ${grouped(of)} runs`;
      status.textContent = count + message.left;
      query(element, '.sv-sampled-about').textContent = message.about || '';
      query(element, '.sv-sampled-table').replaceChildren(
        barTable({
          caption: 'how often a run wrote these two tokens',
          write: percent,
          series: [
            { name: 'speculation', kind: 'run' },
            { name: 'plain decoding', kind: 'plain' },
            { name: 'exact', kind: 'exact', mark: true },
          ],
          rows: pieces.map((piece, i) => ({
            name: piece ? visible(piece) : 'all others',
            kind: piece ? '' : 'rest',
            values: [speculated[i] / Math.max(1, done), plain[i] / Math.max(1, done), exact[i]],
          })),
        }),
      );
    }
    if (message.state === 'stopped') status.textContent = `${count}, stopped`;
    if (message.text) query(element, '.sv-sampled-text').textContent = message.text;
  };
}
