// Two races with one noise: the dials set how wrong the draft is and which noise is drawn; the server works out the rest.

import { draw, make } from '../base/dom.js';
import { asker } from '../labs/asker.js';

/** @typedef {import('./types.js').Races} Races */

const SIDES = /** @type {const} */ (['p', 'q']), TITLES = { p: 'target', q: 'draft' };

/** @type {import('./types.js').Figure} */
export function raceFigure(box, start, server) {
  const lanes = make('div', '', 'sv-race-lanes'), result = make('p', '', 'sv-race-result');
  result.setAttribute('role', 'status');
  const error = dial('How wrong the draft is', start.dials.error, 1, 0.05), seed = dial('Seed of the noise', start.dials.seed, 999, 1);

  /** @param {string} text @param {number} value @param {number} max @param {number} step */
  function dial(text, value, max, step) {
    const label = make('label', text), input = Object.assign(make('input'), { type: 'range', className: 'sv-track', min: '0', max: String(max), step: String(step) });
    input.value = String(value);
    input.addEventListener('input', () => ask(60));
    label.append(input);
    box.append(label);
    return input;
  }

  const ask = asker(box, async stale => {
    const races = /** @type {Races | { error: string }} */ (JSON.parse(await server.two_races({ error: Number(error.value), seed: Number(seed.value) })));
    if (stale()) return;
    if (races.error !== undefined) result.textContent = races.error; else write(races);
  }, text => { result.textContent = text; });

  /** @param {Races} races */
  function write(races) {
    const { tokens, times, rows, winners, equal, seeds } = races, farthest = Math.min(...SIDES.map(side => times[side][winners[side]])) * 3;
    lanes.replaceChildren(...tokens.flatMap((token, i) => SIDES.map(side => lane(side, i, i === winners[side] && side, token,
      rows[side][i], times[side][i], farthest))));
    const [target, drafted] = SIDES.map(side => tokens[winners[side]]);
    result.textContent = `${target === drafted ? `“${target}” wins both races: the draft’s token is accepted.`
      : `“${drafted}” wins the draft’s race, “${target}” the target’s: the draft’s token is rejected.`} Over ${seeds} seeds the winners are equal in ${(100 * equal).toFixed(0)} %.`;
  }

  box.append(lanes, result);
  write(start);
}

/**
 * @param {'p' | 'q'} side
 * @param {number} row
 * @param {string | false} won
 * @param {string} token
 * @param {number} prob
 * @param {number} time
 * @param {number} farthest the time at the end of the lane
 */
function lane(side, row, won, token, prob, time, farthest) {
  const line = make('div', '', `sv-race-lane ${side}${won ? ' won' : ''}`), track = draw('svg', { viewBox: '0 0 100 6', preserveAspectRatio: 'none' });
  draw('rect', { x: 0, y: 2, width: 100 * Math.min(1, time / farthest), height: 2 }, track);
  line.append(make('b', side === 'p' ? token : ''), make('span', `${TITLES[side]} ${prob.toFixed(2)}`), track,
    make('span', `${time > farthest ? 'later' : time.toFixed(2)}${won ? ' ■ first' : ''}`));
  line.dataset.row = String(row);
  return line;
}
