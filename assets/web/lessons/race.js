// Two races with one noise: the dials set how wrong the draft is and which noise is drawn; the
// server works out the rest.

import { barTable } from '../base/bars.js';
import { make } from '../base/dom.js';
import { asker } from '../labs/asker.js';

/** @typedef {import('./types.js').Races} Races */

/** @type {import('./types.js').Figure} */
export function raceFigure(box, start, server) {
  const lanes = make('div'),
    result = make('p', '', 'sv-race-result');
  result.setAttribute('role', 'status');
  const ask = asker(
    box,
    async stale => {
      const races = /** @type {Answer<Races>} */ (
        JSON.parse(await server.two_races({ error: Number(error.value), seed: Number(seed.value) }))
      );
      if (stale()) return;
      if (races.error !== undefined) result.textContent = races.error;
      else write(races);
    },
    text => {
      result.textContent = text;
    },
  );
  const error = dial('How wrong the draft is', start.dials.error, 1, 0.05),
    seed = dial('Seed of the noise', start.dials.seed, 999, 1);

  /** @param {string} text @param {number} value @param {number} max @param {number} step */
  function dial(text, value, max, step) {
    const label = make('label', text),
      input = make('input', '', 'sv-track');
    Object.assign(input, { type: 'range', min: '0', max: String(max), step: String(step) }).value =
      String(value);
    input.addEventListener('input', () => ask(60));
    label.append(input);
    box.append(label);
    return input;
  }

  /** @param {Races} races */
  function write({ tokens, times, rows, winners, equal, seeds }) {
    const farthest = 3 * Math.max(times.p[winners.p], times.q[winners.q]),
      [target, drafted] = [tokens[winners.p], tokens[winners.q]];
    lanes.replaceChildren(
      barTable({
        caption: 'Arrival of each token under p and q: noise / probability. The first one wins.',
        place: time => time / farthest,
        write: time => time.toFixed(2),
        series: [
          { name: 'p', kind: 'p' },
          { name: 'q', kind: 'q' },
        ],
        rows: tokens.map((token, i) => ({
          name: `${token} ${rows.p[i].toFixed(2)}, ${rows.q[i].toFixed(2)}`,
          values: [times.p[i], times.q[i]],
          kind: i === winners.p ? 'own' : '',
        })),
      }),
    );
    const both = `“${target}” wins both races: the draft’s token is accepted.`;
    const each = `“${drafted}” wins the draft’s race, “${target}” the target’s`;
    const share = `Over ${seeds} seeds the winners are equal in ${(100 * equal).toFixed(0)} %.`;
    const outcome = target === drafted ? both : `${each}: the draft’s token is rejected.`;
    result.textContent = `${outcome} ${share}`;
  }

  box.append(lanes, result);
  write(start);
}
