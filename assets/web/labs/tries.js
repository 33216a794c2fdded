// A run of the Verification lab, try by try. Token text only becomes text nodes.

import { barTable } from '../base/bars.js';
import { finder, make, query } from '../base/dom.js';
import { stepper } from '../base/stepper.js';
import { probability } from '../base/text.js';
import { MARKS, OWN } from '../base/words.js';

const RACE = 'the target’s race: the first of all tokens wins';
const READING = 3000; // milliseconds that a try is shown while it plays

/** @typedef {import('./types.js').Rows} Rows */
/** @typedef {import('./types.js').Run} Run */
/** @typedef {import('./types.js').Try} Try */

/**
 * The draw u on a line from 0 to 1; the part below the acceptance probability accepts.
 * @param {number} prob
 * @param {number} coin
 */
function coinLine(prob, coin) {
  const below = prob > 0 ? `accepted below ${probability(prob)}` : 'accepted for no u';
  const labels = [make('span', `u = ${probability(coin)}`), make('span', below)];
  return make('div', labels, { class: 'sv-v-coin', style: `--u: ${coin}; --below: ${prob}` });
}

/** @param {HTMLElement} root */
export function tryStepper(root) {
  const $ = finder(root, 'sv-v-');
  let run = /** @type {Run | null} */ (null),
    names = /** @type {string[]} */ ([]),
    rows = /** @type {Rows} */ ({});
  // the last place is what was written
  const at = stepper(root, {
    count: () => (run ? run.tries.length + 1 : 0),
    changed: write,
    pace: () => READING,
  });
  /** @param {number} token */
  const quoted = token => `“${names[token]}”`;

  function write() {
    root.classList.toggle('ended', at.atEnd);
    query(root, '[data-do=back]').disabled = at.at < 1;
    query(root, '[data-do=next]').disabled = !run || at.atEnd;
    for (const part of ['where', 'track', 'try']) $(part).replaceChildren();
    if (!run) return;
    const now = run.tries[at.at];
    $('where').append(now ? `try ${at.at + 1} of ${run.tries.length}` : 'result');
    $('track').append(...track(run));
    $('try').append(...(now ? tried(now, run) : result(run)));
  }

  /** @param {Run} of */
  function track({ drafted, tries, emitted, goesOn, corrected, isBlock }) {
    const known = isBlock ? tries : tries.slice(0, at.at + 1);
    const seen = new Map(known.map(item => [item.node, item.outcome]));
    const now = tries[at.at]?.node; // none at the end
    /** @type {(mark: string, token: number, remark: string, kind: string) => HTMLElement} */
    const itemOf = (mark, token, remark, kind) =>
      make('li', [make('b', mark), make('span', names[token]), make('small', remark)], kind);
    const items = drafted.map((token, i) => {
      const outcome = seen.get(i + 1) ?? 'waiting';
      const remark = outcome === 'waiting' ? ', not tried' : `, ${outcome}`;
      const item = itemOf(MARKS[outcome], token, remark, outcome);
      if (i + 1 === now) item.setAttribute('aria-current', 'step');
      return item;
    });
    if (at.atEnd && !goesOn) {
      const token = emitted[emitted.length - 1];
      const kind = corrected ? 'correction' : 'bonus';
      items.push(itemOf(MARKS.bonus, token, ', written by the target', kind));
    }
    return items;
  }

  /** @param {Try} one @param {Run} of */
  function tried(one, { tries }) {
    const { token, outcome, accept_prob: prob, coin, why, before, after, times } = one;
    const isLater = tries.slice(0, tries.indexOf(one)).some(({ outcome: of }) => of === 'rejected');
    const compared = /** @type {Rows} */ (
      before.residual
        ? { [isLater ? 'residual' : 'p']: before.residual, draft: before.draft ?? rows.q }
        : { p: rows.p, q: rows.q }
    );
    const parts = [make('h3', `${quoted(token)}: ${outcome}`), make('p', why)];
    // a longer block may accept what failed its own test
    if (prob !== null && coin !== null && coin < prob === (outcome === 'accepted'))
      parts.push(coinLine(prob, coin));
    // The two tables have one scale, so that what a rejection changes is seen.
    const most = Math.max(...[compared, after].flatMap(Object.values).flat());
    const tables = [table('compared in this try', compared, token, most)];
    if (times) tables.push(table(RACE, { 'arrives at': times }, token));
    if (after.residual)
      tables.push(table(`after ${quoted(token)} is rejected`, after, token, most));
    return [...parts, make('div', tables, 'sv-v-tables')];
  }

  /** @param {Run} of */
  function result({ emitted, goesOn, corrected, last }) {
    const token = emitted[emitted.length - 1];
    if (goesOn && !emitted.length) return [make('h3', 'The run did not reach this node.')];
    if (goesOn) return [make('h3', `${quoted(token)} was accepted; the run goes on below it.`)];
    const accepted = emitted.slice(0, -1).map(quoted).join(', ') || 'nothing';
    const own = table('its distribution', last ? { residual: last } : { p: rows.p }, token);
    return [
      make('h3', `Written: ${emitted.map(quoted).join(', ')}`),
      make('p', `Accepted: ${accepted}. ${OWN[corrected ? 'correction' : 'bonus']}`),
      make('div', [own], 'sv-v-tables'),
    ];
  }

  /**
   * @param {string} caption
   * @param {Rows} of
   * @param {number} selected the token in question
   * @param {number} [most] what fills a bar, the same in two tables that are compared
   */
  function table(caption, of, selected, most) {
    const rowsOf = names.map((name, token) => ({
      name,
      values: Object.values(of).map(row => row[token]),
      kind: token === selected ? 'own' : '',
    }));
    return barTable({
      caption,
      series: Object.keys(of).map(kind => ({ name: kind === 'draft' ? 'q' : kind, kind })),
      place: most ? value => value / most : undefined,
      rows: rowsOf.filter(({ values }) => values.some(value => typeof value === 'number')),
    });
  }

  return {
    /** @param {Run | null} next @param {string[]} tokens their names @param {Rows} of p and q */
    show(next, tokens, of) {
      [run, names, rows] = [next, tokens, of];
      at.reset();
      if (run) at.go(0);
      else write();
    },
    position: at,
  };
}
