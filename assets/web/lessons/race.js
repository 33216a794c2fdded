// Two races with one noise: the dial sets how wrong the draft is.

import { barTable, logPlace } from '../base/bars.js';
import { make, slider } from '../base/dom.js';

const CAPTION =
  'Each token with its p and q. It arrives under each after noise / probability, on a ' +
  'logarithmic scale. The first one wins.';

/** @type {import('./types.js').Figure} */
export function raceFigure(box, /** @type {import('./types.js').Races} */ races, step, reach) {
  const { tokens, drafts } = races;
  const [target] = drafts;
  const label = make('span');
  const lanes = make('div');
  const result = make('p', '', { class: 'sv-race-result', role: 'status' });
  const track = slider({ max: drafts.length - 1, step: 1, value: step }, place => {
    write(place);
    reach(place);
  });
  box.append(make('label', [label, track]), lanes, result);
  write(step);

  /** @param {number} place of the dial */
  function write(place) {
    const { error, row, times, winner, equal } = drafts[place];
    label.textContent = `How wrong the draft is: ${error}`;
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
    result.textContent = `${winner === target.winner ? both : each} ${equal}`;
  }
}
