// The fold under the tree: what a node is, why it has its outcome, and what the rule recorded about
// it: rows over a few tokens as bars, races as arrival times, numbers. Nothing here knows a rule.

import { barTable } from '../base/bars.js';
import { button, finder, make } from '../base/dom.js';
import { probability, visible } from '../base/text.js';
import { DRAWN, FACTS, OUTCOMES, OWN, ROWS } from '../base/words.js';

/**
 * @typedef {(step: Step, key: string, index: number) => (() => void) | null} Take what opens a
 *   node in the lab
 */

const ORDER = ['p', 'draft', 'residual']; // rows in this order, others after them
const RACE = 'arrival times (log scale), the smallest wins';

/**
 * What is known of something in a step; `node` where it is about one, with its numbers.
 * @typedef {{ token: string, why: string, facts: string, kind?: string | null, node?: number }}
 *   About
 */

/**
 * @param {Step} step
 * @param {string | null} key a node, "last", a fold, or nothing
 * @returns {About}
 */
export function aboutOf(step, key) {
  if (key === null) return { token: '', why: 'Hover over or click a node.', facts: '' };
  if (key === 'last') {
    return {
      kind: step.last,
      token: visible(step.pieces[step.pieces.length - 1]),
      why: OWN[step.last || ''] || '',
      facts: 'It follows the last accepted node and is the root of the next tree.',
    };
  }
  if (key.endsWith('+')) {
    return {
      kind: 'u',
      token: '…',
      why: `More children of “${visible(step.texts[parseInt(key, 10)])}” that were not visited, collapsed.`,
      facts: 'Click or press Enter to expand them.',
    };
  }
  const node = Number(key),
    about = {
      node,
      kind: step.outcome[node],
      token: visible(step.texts[node]),
      why: step.sentences[step.why[node]],
    };
  const law = `children are ${DRAWN[step.scheme] || step.scheme}`;
  if (!node)
    return {
      ...about,
      facts: `tree of ${step.parents.length} nodes from ${step.draft_passes} draft passes; ${law}`,
    };
  let depth = 0;
  for (let i = node; i > 0; i = step.parents[i]) depth++;
  const siblings = step.parents.flatMap((parent, i) =>
    parent === step.parents[node] && step.outcome[i] !== 'o' ? [i] : [],
  );
  return {
    ...about,
    facts:
      about.kind === 'o'
        ? `depth ${depth}`
        : `depth ${depth}; child ${siblings.indexOf(node) + 1} of ${siblings.length}; ${law}`,
  };
}

/**
 * The probabilities of a node, and the draw or the threshold that decided it.
 * @param {Step} step
 * @param {number} node
 */
function numbersOf(step, node) {
  const threshold = node ? (step.detail[step.parents[node]]?.facts?.threshold ?? null) : null,
    coin = step.coin[node];
  const series = [
    { name: 'probability', kind: 'p' },
    ...(coin === null && threshold === null
      ? []
      : [{ name: coin === null ? 'threshold' : 'draw u', kind: 'exact', mark: true }]),
  ];
  const rows = [
    { name: 'target p', values: [step.p[node], coin === null ? threshold : null] },
    { name: 'draft q', values: [step.q[node], null] },
    { name: 'target p before temperature', values: [step.plain[node], null] },
    { name: 'acceptance', values: [step.accept[node], coin] },
  ].filter(({ values }) => values[0] !== null && values[0] !== undefined);
  return rows.length
    ? [
        barTable({
          series,
          rows: rows.map(row => ({ ...row, values: row.values.slice(0, series.length) })),
          place: value => value,
        }),
      ]
    : [];
}

/** @param {HTMLElement} element @param {Take} [openLab] */
export function inspectorView(element, openLab) {
  const $ = finder(element),
    lab = button('Open in the Verification lab', null, 'sv-lab-button');
  let current = /** @type {{ step: Step | null, key: string | null }} */ ({
    step: null,
    key: null,
  });
  $('facts').after(lab);
  lab.hidden = true;

  /** @param {Step | undefined} step @param {number} index @param {string | null} key */
  function show(step, index, key) {
    // what is read or selected here stays
    if (!step || (step === current.step && key === current.key)) return;
    current = { step, key };
    const about = aboutOf(step, key),
      node = about.node;
    $('why-fold').dataset.kind = about.kind || '';
    $('token').textContent = about.token;
    const outcome = OUTCOMES[about.kind || ''] || '';
    $('outcome').textContent = outcome;
    $('why').textContent =
      outcome && about.why.toLowerCase().startsWith(`${outcome}:`)
        ? about.why.slice(outcome.length + 2)
        : about.why;
    $('facts').textContent = about.facts;
    $('detail').replaceChildren(
      ...(node === undefined ? [] : numbersOf(step, node)),
      ...detailOf(step, key === 'last' ? 'last' : node),
    );
    const open = openLab && key !== null && openLab(step, key, index);
    lab.hidden = !open;
    lab.onclick = open || null;
  }

  return {
    show,
    spoken: () => `${$('token').textContent}: ${$('outcome').textContent}. ${$('why').textContent}`,
  };
}

/**
 * A chart without the tokens to which no row gives a ten-thousandth: a target that is sure of one
 * token has no second.
 * @param {Chart} chart
 * @param {number | null} [own] stays in any case
 * @returns {Chart}
 */
export function weighed({ tokens, texts, rows }, own) {
  const places = tokens
    .map((_, at) => at)
    .filter(at => tokens[at] === own || Object.values(rows).some(row => row[at] >= 1e-4));
  /** @type {<T>(list: T[]) => T[]} */
  const picked = list => places.map(at => list[at]);
  return {
    tokens: picked(tokens),
    texts: picked(texts),
    rows: Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, picked(row)])),
  };
}

/**
 * The tables and numbers on a node, the token that the target adds ("last"), or nothing on the
 * whole step.
 * @param {Step} step
 * @param {number | 'last' | undefined} key
 * @returns {HTMLElement[]}
 */
export function detailOf(step, key) {
  if (key === undefined) return [];
  const end = key === 'last' ? (step.path.at(-1) ?? 0) : key,
    here = step.detail[end] ?? {};
  const above = end > 0 && key !== 'last' ? (step.detail[step.parents[end]] ?? {}) : {},
    own = key === 'last' ? step.own : step.tokens[end];
  if (key === 'last')
    return [
      ...bars('distribution of this token', here.after, own),
      ...races('race of this token', here.race, own),
    ];
  return [
    ...numbers({ 'Parent: ': above.facts, 'Node: ': here.facts }),
    ...bars('before this try', withoutFirstResidual(here.tried), own),
    ...(here.race
      ? races('race for the next token', here.race)
      : races('the race here', above.race, own)),
    ...(here.after
      ? bars('distribution of the target’s next token', here.after)
      : here.tried
        ? []
        : bars('distribution of the target’s own token', above.after, own)),
  ];
}

/**
 * Before the first try at a node the residual is p itself, so p alone is shown.
 * @param {Chart | undefined} chart
 */
export function withoutFirstResidual(chart) {
  const { p, residual, ...rows } = chart?.rows ?? {};
  return chart && p && residual && residual.every((value, i) => value === p[i])
    ? { ...chart, rows: { p, ...rows } }
    : chart;
}

/** @param {Record<string, Record<string, number> | undefined>} places */
function numbers(places) {
  const line = make('p');
  for (const [where, facts = {}] of Object.entries(places)) {
    const entries = Object.entries(facts);
    if (entries.length)
      line.append(
        where,
        entries.map(([name, value]) => `${FACTS[name] || name} ${probability(value)}`).join(', '),
        ' ',
      );
  }
  return line.childNodes.length ? [line] : [];
}

/**
 * @param {string} caption
 * @param {Chart | undefined} whole
 * @param {number | null} [own] the token in question
 */
function bars(caption, whole, own) {
  if (!whole) return [];
  const chart = weighed(whole, own),
    rank = (/** @type {string} */ name) =>
      (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  const names = Object.keys(chart.rows).sort((a, b) => rank(a) - rank(b));
  return [
    barTable({
      caption,
      series: names.map(name => ({ name: ROWS[name] || name, kind: name })),
      rows: rowsOf(chart, names, own),
    }),
  ];
}

/**
 * @param {string} caption
 * @param {Record<string, Chart> | undefined} columns
 * @param {number | null} [own]
 */
function races(caption, columns = {}, own) {
  const times = Object.values(columns)
    .flatMap(chart => Object.values(chart.rows)[0])
    .filter(time => time > 0);
  const low = Math.log(Math.min(...times)),
    span = Math.log(Math.max(...times)) - low || 1;
  return Object.entries(columns).map(([name, chart]) =>
    barTable({
      caption: `${caption}, ${name}: ${RACE}`,
      series: [{ name: 'arrives', kind: name === 'target' ? 'run' : 'q', mark: true }],
      rows: rowsOf(chart, Object.keys(chart.rows).slice(0, 1), own),
      write: value => value.toPrecision(3),
      place: value => (Math.log(value) - low) / span,
    }),
  );
}

/** @param {Chart} chart @param {string[]} names @param {number | null} [own] */
function rowsOf(chart, names, own) {
  return chart.tokens.map((token, at) => ({
    name: visible(chart.texts[at]),
    kind: token === own ? 'own' : '',
    values: names.map(name => chart.rows[name][at]),
  }));
}
