// What a rule kept about a node, drawn: rows over a few tokens as bars, races as two columns of arrival times, numbers.
// It is what detail_payload of specviz/player/payload.py sends; nothing here knows a rule. Token text only becomes text nodes.

import { make, query } from '../base/dom.js';
import { probability, visible } from '../base/text.js';
import { FACTS, ROWS } from '../base/words.js';

/** @typedef {import('../base/types.js').Chart} Chart */
/** @typedef {import('../base/types.js').Step} Step */

const KNOWN = ['p', 'draft', 'residual']; // rows in this order, others after them
const RACE = 'arrival times (log scale), the smallest wins';

/**
 * A chart without the tokens to which no row gives a ten-thousandth: a target that is sure of one token has no second.
 * @param {Chart} chart
 * @param {number | null} [own] stays in any case
 * @returns {Chart}
 */
export function weighed({ tokens, texts, rows }, own) {
  const kept = tokens.map((_, at) => at).filter(at => tokens[at] === own || Object.values(rows).some(row => row[at] >= 1e-4));
  /** @type {<T>(list: T[]) => T[]} */
  const picked = list => kept.map(at => list[at]);
  return { tokens: picked(tokens), texts: picked(texts), rows: Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, picked(row)])) };
}

/** @param {HTMLElement} box */
export function detailView(box) {
  /** @param {Step} step @param {number | 'last' | undefined} key a node, the token the target adds, or the whole step */
  function show(step, key) {
    /** @type {(node: number) => import('../base/types.js').Detail} */
    const kept = node => step.detail[node] || {};
    const end = key === 'last' ? step.path.at(-1) ?? 0 : key ?? -1;
    const here = kept(end), above = kept(end > 0 && key !== 'last' ? step.parents[end] : -1);
    const own = key === 'last' ? step.own : step.tokens[end];
    const parts = /** @type {HTMLElement[]} */ ([]);
    if (key === 'last') {
      if (here.after) parts.push(bars('distribution of this token', here.after, own));
      if (here.race) parts.push(...races('race of this token', here.race, own));
    } else if (key !== undefined) {
      numbers(parts, above.facts, here.facts);
      if (here.tried) parts.push(bars('before this try', here.tried, own));
      if (here.race) parts.push(...races('race for the next token', here.race));
      else if (above.race) parts.push(...races('the race here', above.race, own));
      if (here.after) parts.push(bars('distribution of the target’s next token', here.after));
      else if (above.after && !here.tried) parts.push(bars('distribution of the target’s own token', above.after, own));
    }
    box.replaceChildren(...parts);
    box.hidden = !parts.length;
  }

  /** @param {HTMLElement[]} parts @param {Record<string, number>} [above] @param {Record<string, number>} [here] */
  function numbers(parts, above = {}, here = {}) {
    const line = make('p');
    for (const [where, facts] of Object.entries({ 'Parent: ': above, 'Node: ': here })) {
      if (!Object.keys(facts).length) continue;
      line.append(where);
      for (const [name, value] of Object.entries(facts)) line.append(`${FACTS[name] || name} `, make('b', probability(value)));
    }
    if (line.childNodes.length) parts.push(line);
  }

  /** @param {string} title @param {Chart} whole @param {number | null} [own] the token in question */
  function bars(title, whole, own) {
    const chart = weighed(whole, own);
    const names = KNOWN.filter(name => name in chart.rows);
    names.push(...Object.keys(chart.rows).filter(name => !KNOWN.includes(name)));
    const most = Math.max(1e-9, ...names.flatMap(name => chart.rows[name]));
    const cells = (/** @type {number} */ at) => {
      const drawn = make('td');
      for (const name of names) {
        const bar = make('i', '', KNOWN.includes(name) ? name : '');
        bar.style.width = `${100 * Math.max(0, chart.rows[name][at]) / most}%`;
        drawn.append(bar);
      }
      return [drawn, ...names.map(name => make('td', probability(chart.rows[name][at])))];
    };
    const head = ['', '', ...names].map(name => make('th', ROWS[name] || name, KNOWN.includes(name) ? name : ''));
    return table(title, head, chart, cells, own);
  }

  /** @param {string} title @param {Record<string, Chart>} columns @param {number | null} [own] */
  function races(title, columns, own) {
    const times = Object.values(columns).flatMap(chart => Object.values(chart.rows)[0]).filter(time => time > 0);
    const low = Math.log(Math.min(...times)), span = Math.log(Math.max(...times)) - low || 1;
    return Object.entries(columns).map(([name, chart]) => {
      const arrivals = Object.values(chart.rows)[0];
      const cells = (/** @type {number} */ at) => {
        const drawn = make('td'), track = make('div', '', 'track'), dot = make('u');
        dot.style.left = `${Math.max(0, 100 * (Math.log(arrivals[at]) - low) / span)}%`;
        track.append(dot);
        drawn.append(track);
        return [drawn, make('td', arrivals[at].toPrecision(3))];
      };
      const made = table(`${title}, ${name}: ${RACE}`, null, chart, cells, own);
      if (name === 'target') query(made, 'tbody tr').classList.add('first');
      return made;
    });
  }

  /**
   * @param {string} title
   * @param {HTMLElement[] | null} head
   * @param {Chart} chart
   * @param {(at: number) => HTMLElement[]} cells beside the token at this place
   * @param {number | null} [own]
   */
  function table(title, head, chart, cells, own) {
    const made = make('table'), body = make('tbody');
    made.append(make('caption', title));
    if (head) {
      const top = make('thead'), line = make('tr');
      line.append(...head);
      top.append(line);
      made.append(top);
    }
    chart.tokens.forEach((token, at) => {
      const line = make('tr', '', token === own ? 'own' : '');
      line.append(make('th', visible(chart.texts[at])), ...cells(at));
      body.append(line);
    });
    made.append(body);
    return made;
  }

  return { show };
}
