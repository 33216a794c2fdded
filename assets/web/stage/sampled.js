// "Is it exact?": how often the next two tokens were written, with speculation and without, beside
// their exact probabilities. Texts come from models, so they only become text nodes.

import { barTable } from '../base/bars.js';
import { finder, query } from '../base/dom.js';
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
  const $ = finder(element, 'sv-sampled-');
  menu(query(element, 'details')); // it lies over the page
  $('start').onclick = () => {
    set(true);
    $('count').textContent = 'waiting';
    ask();
  };
  $('stop').onclick = () => document.getElementById(stop)?.click();

  /** @param {boolean} isBusy */
  function set(isBusy) {
    $('start').hidden = isBusy;
    $('stop').hidden = !isBusy;
  }

  /** @param {string} message */
  return message => {
    if (!message) return;
    /** @type {Message} */
    const { state, text, about = '', left = '', pieces, ...counts } = JSON.parse(message);
    const { speculated = [], plain = [], exact = [], runs: done = 0, of = 0 } = counts;
    if (state === 'stopped' && $('stop').hidden) return; // something else was stopped
    set(state === 'running');
    $('left').textContent = state === 'stopped' ? ', stopped' : left;
    if (text) $('text').textContent = text;
    if (!pieces) return;
    $('count').textContent = `${grouped(done)} of ${grouped(of)} runs`;
    $('about').textContent = about;
    $('table').replaceChildren(
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
  };
}
