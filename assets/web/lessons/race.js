// Two races with one noise: the dial sets how wrong the draft is.

import { barTable, logPlace } from '../base/bars.js';
import { button, make, slider } from '../base/dom.js';

const CAPTION =
  'Each token with its p and q. It arrives under each after E / probability, on a ' +
  'logarithmic scale. The first one wins; ◂ marks the target’s.';

/** @type {import('./types.js').Figure} */
export function raceFigure(box, /** @type {import('./types.js').Races} */ races, step, reach) {
  const { tokens, drafts } = races;
  const [target] = drafts;
  let { noise } = races;
  const label = make('span');
  const lanes = make('div');
  const result = make('p', '', { class: 'sv-race-result', role: 'status' });
  const track = slider({ max: drafts.length - 1, step: 1, value: step }, place => {
    write(place);
    reach(place);
  });
  const again = button('Another seed', () => {
    noise = tokens.map(() => -Math.log(1 - Math.random()));
    write(track.valueAsNumber);
  });
  box.append(make('label', [label, track]), again, lanes, result);
  write(step);

  /** @param {number} place of the dial */
  function write(place) {
    const { error, row, equal } = drafts[place];
    const [own, times] = [target.row, row].map(chances => noise.map((one, i) => one / chances[i]));
    const [first, winner] = [own, times].map(list => list.indexOf(Math.min(...list)));
    label.textContent = `How wrong the draft is: ${error}`;
    lanes.replaceChildren(
      barTable({
        caption: CAPTION,
        place: logPlace([...own, ...times]),
        write: time => time.toFixed(2),
        series: [
          { name: 'time under p', kind: 'p', mark: true },
          { name: 'time under q', kind: 'q', mark: true },
        ],
        rows: tokens.map((token, i) => ({
          name: `${token} ${target.row[i].toFixed(2)}, ${row[i].toFixed(2)}`,
          values: [own[i], times[i]],
          kind: i === first ? 'own' : '',
        })),
      }),
    );
    const verdict = winner === first ? 'accepted' : 'rejected';
    result.textContent =
      `“${tokens[first]}” wins the target’s race, “${tokens[winner]}” the draft’s: ` +
      `the draft’s token is ${verdict}. ${equal}`;
  }
}
