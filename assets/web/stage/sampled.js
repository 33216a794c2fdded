// "Is it exact?": how often the next two tokens were written, with speculation and without, beside
// their exact probabilities. Texts come from models, so they only become text nodes.

import { barTable } from '../base/bars.js';
import { button, query } from '../base/dom.js';
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
const grouped = (/** @type {number} */ number) => number.toLocaleString('en');

/**
 * @param {HTMLElement} element
 * @param {{ runs: number[], stop: string }} about how many runs there may be, and the id of the
 *   button that stops them
 * @param {(runs: number) => void} ask
 */
export function sampledTexts(element, { runs, stop }, ask) {
  const stopping = query(element, '.sv-sampled-stop');
  const bar = query(element, 'progress', HTMLProgressElement);
  const status = query(element, '.sv-sampled-count');
  menu(query(element, 'details', HTMLDetailsElement), []); // it lies over the page
  let busy = false,
    done = 0;
  const starting = runs.map(many => button(`Sample ${grouped(many)} times`, () => begin(many)));
  query(element, '.sv-sampled-go').prepend(...starting);
  stopping.addEventListener('click', () => document.getElementById(stop)?.click());

  /** @param {number} many */
  function begin(many) {
    set(true);
    done = 0;
    status.textContent = 'waiting';
    ask(many);
  }

  /** @param {boolean} now */
  function set(now) {
    busy = now;
    for (const start of starting) start.hidden = now;
    stopping.hidden = bar.hidden = !now;
    if (!now) bar.value = 0;
  }

  /** @param {string} text a message */
  return text => {
    if (!text) return;
    const message = /** @type {Message} */ (JSON.parse(text));
    if (message.state === 'stopped' && !busy) return; // something else was stopped
    set(message.state === 'running');
    if (message.pieces) {
      const { pieces, speculated = [], plain = [], exact = [] } = message;
      done = message.runs ?? 0;
      bar.value = done / (message.of || 1);
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
    const { left = '' } = message;
    const runsOf = `${grouped(done)} of ${grouped(message.of || 0)} runs${left}`;
    const count = message.pieces ? runsOf : '';
    const isStopped = message.state === 'stopped';
    status.textContent = isStopped ? `stopped after ${grouped(done)} runs` : count;
    if (message.text || !done) query(element, '.sv-sampled-text').textContent = message.text || '';
  };
}
