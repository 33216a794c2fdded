// Draws a run of the Verification lab try by try, and rows of bars over a few tokens. Token text only becomes text nodes.

import { finder, make } from '../base/dom.js';
import { probability } from '../base/text.js';
import { FACTS, MARKS, ROWS } from '../base/words.js';

// Bars over tokens: `rows` is name -> numbers, `own` the token in question, `line` a threshold across the first row.
export function barTable(title, names, rows, own = null, line = null) {
  const box = make('table', '', 'sv-v-bars'), head = make('tr'), body = make('tbody'), top = make('thead');
  const shown = Object.keys(rows);
  box.append(make('caption', title));
  head.append(make('td'), make('td'), ...shown.map(name => make('th', ROWS[name] || name, name)));
  top.append(head);
  names.forEach((text, token) => {
    const row = make('tr', '', token === own ? 'own' : ''), drawn = make('td');
    for (const [at, name] of shown.entries()) {
      const track = make('i'), bar = make('u', '', name);
      bar.style.width = `${100 * Math.min(1, Math.max(0, rows[name][token]))}%`;
      track.append(bar);
      if (line !== null && !at) {
        const mark = make('em');
        mark.style.left = `${100 * line}%`;
        track.append(mark);
      }
      drawn.append(track);
    }
    row.append(make('th', text), drawn, ...shown.map(name => make('td', probability(rows[name][token]))));
    body.append(row);
  });
  box.append(top, body);
  return box;
}

// The stepper. `told` is a run as the server tells it, `names` what its tokens are called.
export function tryStepper(root) {
  const $ = finder(root, 'sv-v-');
  let told = null, names = [], node = null, at = 0;

  const last = () => told.tries.length + 1; // place 0 is before the first try, the last one is what was written
  const quoted = token => `“${names[token]}”`;

  function show(run, tokens, shape) {
    [told, names, node] = [run, tokens, shape];
    go(0);
  }

  function go(place) {
    if (!told) return;
    at = Math.max(0, Math.min(last(), place));
    $('where').textContent = !at ? `${told.tries.length} ${told.tries.length === 1 ? 'try' : 'tries'} to come`
      : at === last() ? 'the end' : `try ${at} of ${told.tries.length}`;
    root.querySelector('[data-do=back]').disabled = !at;
    root.querySelector('[data-do=next]').disabled = at === last();
    track();
    $('try').replaceChildren(...(!at ? before() : at === last() ? after() : tried(told.tries[at - 1])));
  }

  function track() {
    const done = new Map(told.tries.slice(0, at).map(one => [one.node, one.outcome]));
    const now = at && at < last() ? told.tries[at - 1].node : null;
    const items = told.drafted.map((token, i) => {
      const outcome = done.get(i + 1) || 'waiting', item = make('li', '', outcome), words = outcome === 'waiting' ? 'not tried' : outcome;
      item.append(make('b', MARKS[outcome]), make('span', names[token]), make('small', `, ${words}`));
      if (i + 1 === now) item.setAttribute('aria-current', 'step');
      return item;
    });
    if (at === last()) {
      const own = make('li', '', told.corrected ? 'correction' : 'bonus');
      own.append(make('b', MARKS.bonus), make('span', names[told.emitted.at(-1)]), make('small', ', written by the target'));
      items.push(own);
    }
    $('track').replaceChildren(...items);
  }

  function before() {
    const listed = told.drafted.map(quoted).join(', ');
    const how = node.levels > 1 ? `a chain of ${told.drafted.length}: ${listed}` : told.drafted.length === 1 ? `one child: ${listed}` : `${told.drafted.length} children in this order: ${listed}`;
    return [title('Before the first try'), make('p', `The draft has drawn ${how}.`), ...numbers(told.facts), ...races(),
      bars(['what both models say', { p: node.p, q: node.q }, null, told.facts.threshold])];
  }

  function tried(one) {
    const parts = [title(`Token ${quoted(one.token)}`, one.outcome), make('p', one.why), ...numbers(one.facts)];
    if (one.accept_prob !== null && one.coin !== null) parts.push(coin(one));
    const known = Object.fromEntries(Object.entries(one.before).filter(([name]) => name !== 'p'));
    const held = Object.keys(known).length ? (known.residual ? known : { p: node.p, ...known }) : { p: node.p, q: node.q };
    const charts = [['before this try', held, one.token, told.facts.threshold]];
    if (Object.keys(one.after).length) charts.push([`once ${quoted(one.token)} is refused`, one.after]);
    parts.push(bars(...charts));
    return parts;
  }

  function after() {
    const drafted = told.emitted.slice(0, -1), own = told.emitted.at(-1);
    const kept = drafted.length ? `Accepted: ${drafted.map(quoted).join(', ')}. ` : 'Nothing was accepted. ';
    const why = told.corrected
      ? `The target writes ${quoted(own)} itself${told.last ? ', drawn from what is left to it' : ''}.`
      : `The tree came to an end, so the target adds ${quoted(own)}, drawn from p.`;
    const row = told.last ? { residual: told.last } : { p: node.p };
    return [title(`Written: ${told.emitted.map(quoted).join(', ')}`, told.corrected ? 'correction' : 'bonus'), make('p', kept + why), ...races(),
      bars([told.corrected || told.last ? 'what its token was drawn from' : 'p after the last token', row, own])];
  }

  function title(text, kind = '') {
    const line = make('h3', text);
    if (kind) line.append(' ', make('span', kind, `sv-v-badge ${kind}`));
    return line;
  }

  function numbers(facts) {
    const known = Object.entries(facts || {});
    if (!known.length) return [];
    return [make('p', known.map(([name, value]) => `${FACTS[name] || name} = ${value.toFixed(3)}`).join(', '), 'sv-v-facts')];
  }

  // The acceptance as a filled bar, the coin as a mark on it: left of the bar's end means accepted.
  function coin(one) {
    const line = make('div', '', 'sv-v-coin'), bar = make('i'), fill = make('u'), mark = make('em');
    fill.style.width = `${100 * one.accept_prob}%`;
    mark.style.left = `${100 * one.coin}%`;
    bar.append(fill, mark);
    line.append(make('span', 'acceptance, coin'), bar, make('b', `${one.accept_prob.toFixed(3)} / ${one.coin.toFixed(3)}`));
    return line;
  }

  function races() {
    return Object.entries(told.races || {}).map(([name, times]) => {
      const order = times.map((time, token) => [time, token]).filter(([time]) => time !== null).sort((a, b) => a[0] - b[0]);
      const listed = order.map(([time, token]) => `${quoted(token)} at ${time.toPrecision(3)}`).join(', ');
      return make('p', `Arrivals under ${name === 'target' ? 'the target' : 'the draft'}: ${listed}.`, 'sv-v-facts');
    });
  }

  function bars(...charts) {
    const box = make('div', '', 'sv-v-charts');
    box.append(...charts.map(([caption, rows, own = null, line = null]) => barTable(caption, names, rows, own, line)));
    return box;
  }

  function clear() {
    told = null;
    for (const name of ['track', 'try']) $(name).replaceChildren();
    $('where').textContent = '';
    for (const name of ['back', 'next']) root.querySelector(`[data-do=${name}]`).disabled = true;
  }

  return { show, clear, move: by => go(at + by) };
}
