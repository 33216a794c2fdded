// Two races with one noise: the dials set how wrong the draft is and which noise is drawn; the
// server works out the rest.

import { barTable, logPlace } from '../base/bars.js';
import { make, slider } from '../base/dom.js';
import { asker } from '../labs/asker.js';

/** @typedef {import('./types.js').Races} Races */

/** @type {import('./types.js').Figure} */
export function raceFigure(box, start, server) {
  const lanes = make('div');
  const result = make('p', '', { class: 'sv-race-result', role: 'status' });
  const dials = { ...start.dials };
  const ask = asker(
    box,
    () => server.two_races(dials),
    write,
    text => {
      result.textContent = text;
    },
  );
  dial('How wrong the draft is', 'error', 1, 0.05);
  dial('Seed of the noise', 'seed', 999, 1);

  /**
   * @param {string} text
   * @param {'error' | 'seed'} name
   * @param {number} max
   * @param {number} step
   */
  function dial(text, name, max, step) {
    const label = make('span', `${text}: ${dials[name]}`);
    const track = slider({ max, step, value: dials[name] }, value => {
      dials[name] = value;
      label.textContent = `${text}: ${value}`;
      ask(60);
    });
    box.append(make('label', [label, track]));
  }

  /** @param {Races} races */
  function write({ tokens, times, rows, winners, equal, seeds }) {
    const target = tokens[winners.p];
    const drafted = tokens[winners.q];
    lanes.replaceChildren(
      barTable({
        caption:
          'Each token with its p and q. It arrives under each after noise / probability, on a ' +
          'logarithmic scale. The first one wins.',
        place: logPlace([...times.p, ...times.q]),
        write: time => time.toFixed(2),
        series: [
          { name: 'time under p', kind: 'p', mark: true },
          { name: 'time under q', kind: 'q', mark: true },
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
