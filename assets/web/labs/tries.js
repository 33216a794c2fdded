// Draws a run of the Verification lab try by try, and rows of bars over a few tokens. Token text only becomes text nodes.

import { finder, make, query as part } from '../base/dom.js';
import { probability } from '../base/text.js';
import { FACTS, MARKS, ROWS } from '../base/words.js';

/** @typedef {import('./types.js').Rows} Rows */
/** @typedef {import('./types.js').Told} Told */
/** @typedef {import('./types.js').Try} Try */
/** @typedef {{ p: number[], q: number[], levels: number }} Shape */
/** @typedef {{ caption: string, rows: Rows, own?: number, line?: number }} BarChart */

const number = (/** @type {number | null | undefined} */ value) => (value === null || value === undefined ? '–' : probability(value));

/**
 * Bars over tokens.
 * @param {string} title
 * @param {string[]} names of the tokens
 * @param {Rows} rows
 * @param {number | null} [own] the token in question
 * @param {number | null} [line] a threshold across the first row
 */
export function barTable(title, names, rows, own = null, line = null) {
  const box = make('table', '', 'sv-v-bars'), head = make('tr'), body = make('tbody'), top = make('thead');
  const shown = Object.keys(rows);
  box.append(make('caption', title));
  head.append(make('td'), make('td'), ...shown.map(name => make('th', ROWS[name] || name, name)));
  top.append(head);
  names.forEach((text, token) => {
    if (shown.every(name => rows[name][token] === null || rows[name][token] === undefined)) return; // nothing is known of it
    const row = make('tr', '', token === own ? 'own' : ''), drawn = make('td');
    for (const [at, name] of shown.entries()) {
      const track = make('i'), bar = make('u', '', name);
      bar.style.width = `${100 * Math.min(1, Math.max(0, rows[name][token] ?? 0))}%`;
      track.append(bar);
      if (line !== null && !at) {
        const mark = make('em');
        mark.style.left = `${100 * line}%`;
        track.append(mark);
      }
      drawn.append(track);
    }
    row.append(make('th', text), drawn, ...shown.map(name => make('td', number(rows[name][token]))));
    body.append(row);
  });
  box.append(top, body);
  return box;
}

/** @param {HTMLElement} root */
export function tryStepper(root) {
  const $ = finder(root, 'sv-v-');
  let told = /** @type {Told | null} */ (null), names = /** @type {string[]} */ ([]), at = 0;
  /** @type {Shape} of the run that is told */
  let node;

  const last = (/** @type {Told} */ run) => run.tries.length + 1; // place 0 is before the first try, the last one is what was written
  const quoted = (/** @type {number} */ token) => `“${names[token]}”`;

  /** @param {Told} run @param {string[]} tokens their names @param {Shape} shape */
  function show(run, tokens, shape) {
    [told, names, node] = [run, tokens, shape];
    go(0);
  }

  /** @param {number} place */
  function go(place) {
    if (!told) return;
    const { tries } = told, end = last(told);
    at = Math.max(0, Math.min(end, place));
    $('where').textContent = !at ? `${tries.length} ${tries.length === 1 ? 'try' : 'tries'} remaining`
      : at === end ? 'end' : `try ${at} of ${tries.length}`;
    part(root, '[data-do=back]').disabled = !at;
    part(root, '[data-do=next]').disabled = at === end;
    track(told);
    $('try').replaceChildren(...(!at ? before(told) : at === end ? after(told) : tried(told, tries[at - 1])));
  }

  /** @param {Told} run */
  function track(run) {
    const done = new Map(run.tries.slice(0, at).map(one => [one.node, one.outcome]));
    const now = at && at < last(run) ? run.tries[at - 1].node : null;
    const items = run.drafted.map((token, i) => {
      const outcome = done.get(i + 1) || 'waiting', item = make('li', '', outcome), words = outcome === 'waiting' ? 'not tried' : outcome;
      item.append(make('b', MARKS[outcome]), make('span', names[token]), make('small', `, ${words}`));
      if (i + 1 === now) item.setAttribute('aria-current', 'step');
      return item;
    });
    if (at === last(run) && !run.goesOn) {
      const own = make('li', '', run.corrected ? 'correction' : 'bonus');
      own.append(make('b', MARKS.bonus), make('span', names[run.emitted[run.emitted.length - 1]]), make('small', ', written by the target'));
      items.push(own);
    }
    $('track').replaceChildren(...items);
  }

  /** @param {Told} run */
  function before(run) {
    const listed = run.drafted.map(quoted).join(', ');
    const how = node.levels > 1 ? `a chain of ${run.drafted.length}: ${listed}` : run.drafted.length === 1 ? `one child: ${listed}` : `${run.drafted.length} children in this order: ${listed}`;
    return [title('Before the first try'), make('p', `The draft drew ${how}.`), ...numbers(run.facts), ...races(run),
      bars({ caption: 'p and q', rows: { p: node.p, q: node.q }, line: run.facts.threshold })];
  }

  /** @param {Told} run @param {Try} one */
  function tried(run, one) {
    const parts = [title(`Token ${quoted(one.token)}`, one.outcome), make('p', one.why), ...numbers(one.facts)];
    if (one.accept_prob !== null && one.coin !== null) parts.push(coin(one.accept_prob, one.coin));
    const known = Object.fromEntries(Object.entries(one.before).filter(([name]) => name !== 'p'));
    const held = Object.keys(known).length ? (known.residual ? known : { p: node.p, ...known }) : { p: node.p, q: node.q };
    /** @type {BarChart[]} */
    const charts = [{ caption: 'before this try', rows: held, own: one.token, line: run.facts.threshold }];
    if (Object.keys(one.after).length) charts.push({ caption: `after ${quoted(one.token)} is rejected`, rows: one.after });
    parts.push(bars(...charts));
    return parts;
  }

  /** @param {Told} run */
  function after(run) {
    if (run.goesOn) {
      const [kept] = run.emitted;
      return kept === undefined ? [title('No child was accepted'), make('p', 'The rule went on elsewhere in the tree.')]
        : [title(`Accepted: ${quoted(kept)}`, 'accepted'), make('p', `The rule went on below ${quoted(kept)}.`)];
    }
    const drafted = run.emitted.slice(0, -1), own = run.emitted[run.emitted.length - 1];
    const kept = drafted.length ? `Accepted: ${drafted.map(quoted).join(', ')}. ` : 'Nothing was accepted. ';
    const why = run.corrected
      ? `The target writes ${quoted(own)} itself${run.last ? ', drawn from the residual' : ''}.`
      : `The tree ends here, so the target adds ${quoted(own)}, drawn from p.`;
    /** @type {Rows} */
    const row = run.last ? { residual: run.last } : { p: node.p };
    return [title(`Written: ${run.emitted.map(quoted).join(', ')}`, run.corrected ? 'correction' : 'bonus'), make('p', kept + why), ...races(run),
      bars({ caption: run.corrected || run.last ? 'distribution of its token' : 'p after the last token', rows: row, own })];
  }

  /** @param {string} text @param {string} [kind] */
  function title(text, kind = '') {
    const line = make('h3', text);
    if (kind) line.append(' ', make('span', kind, `sv-v-badge ${kind}`));
    return line;
  }

  /** @param {Record<string, number>} facts */
  function numbers(facts) {
    const known = Object.entries(facts || {});
    if (!known.length) return [];
    return [make('p', known.map(([name, value]) => `${FACTS[name] || name} = ${probability(value)}`).join(', '), 'sv-v-facts')];
  }

  /**
   * The acceptance as a filled bar, the coin as a mark on it: left of the bar's end means accepted.
   * @param {number} chance
   * @param {number} tossed
   */
  function coin(chance, tossed) {
    const line = make('div', '', 'sv-v-coin'), bar = make('i'), fill = make('u'), mark = make('em');
    fill.style.width = `${100 * chance}%`;
    mark.style.left = `${100 * tossed}%`;
    bar.append(fill, mark);
    line.append(make('span', 'acceptance probability, uniform draw u'), bar, make('b', `${probability(chance)} / ${probability(tossed)}`));
    return line;
  }

  /** @param {Told} run */
  function races(run) {
    return Object.entries(run.races || {}).map(([name, times]) => {
      const order = times.flatMap((time, token) => (time === null ? [] : [{ time, token }])).sort((a, b) => a.time - b.time);
      const listed = order.map(({ time, token }) => `${quoted(token)} at ${time.toPrecision(3)}`).join(', ');
      return make('p', `Arrival times under ${name === 'target' ? 'the target' : 'the draft'}: ${listed}.`, 'sv-v-facts');
    });
  }

  /** @param {BarChart[]} charts */
  function bars(...charts) {
    const box = make('div', '', 'sv-v-charts');
    box.append(...charts.map(({ caption, rows, own, line }) => barTable(caption, names, rows, own, line)));
    return box;
  }

  function clear() {
    told = null;
    for (const name of ['track', 'try']) $(name).replaceChildren();
    $('where').textContent = '';
    for (const name of ['back', 'next']) part(root, `[data-do=${name}]`).disabled = true;
  }

  return { show, clear, move: (/** @type {number} */ by) => go(at + by) };
}
