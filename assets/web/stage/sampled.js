// The fold "Is it exact?": how often the next two tokens were written, with speculation and without, beside their exact
// probabilities. Texts come from models, so they only become text nodes.

import { make, query } from '../base/dom.js';
import { visible } from '../base/text.js';

/**
 * What app/tabs/explore/sampler.py sends: counts by text, the last of which is all others; or only a state and a sentence.
 * @typedef {{ state: 'running' | 'done' | 'stopped' | 'error', text?: string, about?: string, runs?: number, of?: number,
 *   pieces?: string[], exact?: number[], speculated?: number[], plain?: number[] }} News
 */
/** @typedef {Required<Pick<News, 'runs' | 'pieces' | 'exact' | 'speculated' | 'plain'>>} Counts */

const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(1)} %`;
const counted = (/** @type {number} */ number) => number.toLocaleString('en');

/**
 * @param {HTMLElement} element
 * @param {{ runs: number, stop: string }} about how many runs, and the id of the button that stops them
 * @param {() => void} ask
 */
export function sampledTexts(element, { runs, stop }, ask) {
  const button = query(element, 'button'), bar = query(element, 'progress'), count = query(element, '.sv-sampled-count');
  let busy = false, done = 0;
  set(false);
  button.addEventListener('click', () => {
    if (busy) return document.getElementById(stop)?.click();
    set(true);
    done = 0;
    count.textContent = 'waiting';
    ask();
  });

  /** @param {boolean} now */
  function set(now) {
    busy = now;
    button.textContent = now ? 'Stop' : `Sample ${counted(runs)} times`;
    bar.hidden = !now;
    if (!now) bar.value = 0;
  }

  /** @param {string} text a message */
  return text => {
    if (!text) return;
    const news = /** @type {News} */ (JSON.parse(text));
    if (news.state === 'stopped' && !busy) return; // something else was stopped
    set(news.state === 'running');
    if (news.pieces) {
      const known = /** @type {Counts} */ (news);
      done = known.runs;
      bar.value = done / (news.of || 1);
      query(element, '.sv-sampled-about').textContent = news.about || '';
      write(known);
    }
    count.textContent = news.state === 'stopped' ? `stopped after ${counted(done)} runs` : news.pieces ? `${counted(done)} of ${counted(news.of || 0)} runs` : '';
    if (news.text || !done) query(element, '.sv-sampled-said').textContent = news.text || '';
  };

  /** @param {Counts} known */
  function write({ runs: all, pieces, exact, speculated, plain }) {
    const shares = [speculated, plain].map(counts => counts.map(number => number / Math.max(1, all)));
    const most = Math.max(...exact, ...shares.flat());
    query(element, 'table').hidden = false;
    query(element, 'tbody').replaceChildren(...pieces.map((piece, i) => {
      const line = make('tr'), drawn = make('td'), track = make('div'), values = shares.map(column => column[i]);
      for (const [at, kind] of ['run', 'plain'].entries()) {
        const fill = make('i', '', kind);
        fill.style.width = `${100 * values[at] / most}%`;
        track.append(fill);
      }
      const mark = make('em');
      mark.style.left = `${100 * exact[i] / most}%`;
      track.append(mark);
      drawn.append(track);
      const name = make('th', piece ? visible(piece) : 'all others', piece ? '' : 'rest');
      name.scope = 'row';
      line.append(name, drawn, ...[...values, exact[i]].map(value => make('td', percent(value))));
      return line;
    }));
  }
}
