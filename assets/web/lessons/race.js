// Two races with one noise: the dial sets how wrong the draft is.

import { barTable, logPlace } from '../base/bars.js';
import { make, slider } from '../base/dom.js';

const CAPTION =
  'Each token with its p and q. It arrives under each after noise / probability, on a ' +
  'logarithmic scale. The first one wins.';

/** @type {import('./types.js').Figure} */
export function raceFigure(box, /** @type {import('./types.js').Races} */ races) {
  const { tokens, seeds, drafts, error } = races;
  const [target] = drafts;
  const label = make('span');
  const lanes = make('div');
  const result = make('p', '', { class: 'sv-race-result', role: 'status' });
  const track = slider({ max: 1, step: 1 / (drafts.length - 1), value: error }, write);
  box.append(make('label', [label, track]), lanes, result);
  write(error);

  /** @param {number} value of the dial */
  function write(value) {
    const { row, times, winner, equal } = drafts[Math.round(value * (drafts.length - 1))];
    label.textContent = `How wrong the draft is: ${value}`;
    lanes.replaceChildren(
      barTable({
        caption: CAPTION,
        place: logPlace([...target.times, ...times]),
        write: time => time.toFixed(2),
        series: [
          { name: 'time under p', kind: 'p', mark: true },
          { name: 'time under q', kind: 'q', mark: true },
        ],
        rows: tokens.map((token, i) => ({
          name: `${token} ${target.row[i].toFixed(2)}, ${row[i].toFixed(2)}`,
          values: [target.times[i], times[i]],
          kind: i === target.winner ? 'own' : '',
        })),
      }),
    );
    const own = `“${tokens[target.winner]}”`;
    const both = `${own} wins both races: the draft’s token is accepted.`;
    const each =
      `“${tokens[winner]}” wins the draft’s race, ${own} the target’s: ` +
      'the draft’s token is rejected.';
    const share = `Over ${seeds} seeds the winners are equal in ${(100 * equal).toFixed(0)} %.`;
    result.textContent = `${winner === target.winner ? both : each} ${share}`;
  }
}
