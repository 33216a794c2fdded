// The papers: which source is shown, its entries with what the source says beside what was measured here, and how many
// claims have each verdict. Text only ever becomes text nodes.

import { button, finder, make, query } from '../base/dom.js';
import { MARKS, entryCard, verdictCounts } from './entry.js';

const STATES = /** @type {import('./types.js').State[]} */ (Object.keys(MARKS));

/**
 * @param {HTMLElement} element
 * @param {{ sources: { name: string, title: string }[] }} first
 * @param {(name: string) => Promise<string>} fetchPage
 * @param {(wanted: { source: string, name: string }) => void} ask
 */
export function paperPages(element, first, fetchPage, ask) {
  const root = query(element, '.sv-papers'), $ = finder(root, 'sv-papers-');
  /** @type {Map<string, import('./types.js').Page>} */
  const known = new Map();
  const asked = new URLSearchParams(location.search);
  const names = first.sources.map(source => source.name);
  let shown = names.find(name => name === asked.get('paper')) ?? names[0], leadTo = asked.get('entry');
  /** @type {import('./types.js').State | null} */
  let only = null;
  /** @type {import('./types.js').Page} what is shown, from the first that arrives on */
  let page;
  /** @type {import('./types.js').Running | null} */
  let running = null;

  first.sources.forEach(source => {
    const made = button(`${source.title} `, () => open(source.name));
    made.dataset.source = source.name;
    $('list').append(made);
  });

  /** @param {string} name */
  async function open(name) {
    shown = name;
    $('list').querySelectorAll('button').forEach((/** @type {HTMLButtonElement} */ other) => {
      if (other.dataset.source === name) other.setAttribute('aria-current', 'page'); else other.removeAttribute('aria-current');
    });
    root.setAttribute('aria-busy', 'true');
    try {
      if (!known.has(name)) known.set(name, JSON.parse(await fetchPage(name)));
    } catch {
      if (name === shown) $('about').textContent = 'The source could not be loaded. Choose it again to retry.';
      return;
    }
    if (name !== shown) return;
    page = /** @type {import('./types.js').Page} */ (known.get(name));
    write();
    root.setAttribute('aria-busy', 'false');
    if (leadTo) {
      const target = card(leadTo);
      if (target) {
        target.open = true;
        target.scrollIntoView({ block: 'start' });
      }
      leadTo = null;
    }
  }

  /** @type {() => HTMLDetailsElement[]} */
  const cards = () => [...root.querySelectorAll('.sv-entry')];

  /** @type {(name: string) => HTMLDetailsElement | undefined} */
  const card = name => cards().find(box => box.dataset.name === name);

  const folded = foldsAll($('fold'), root, cards);

  // ---- the bar, and the head of a source ----

  function write() {
    query(root, '.sv-papers-head h2').textContent = page.title;
    $('cite').replaceChildren(page.cite + ' ', ...(page.url && page.url.startsWith('https://') ? [link()] : []));
    $('about').textContent = page.about;
    bar();
    const filter = $('filter');
    filter.replaceChildren(...[null, ...STATES].map(state => {
      const count = state ? page.mine[state] : STATES.reduce((sum, other) => sum + page.mine[other], 0);
      const made = button(state ? `${MARKS[state]} ${state} ${count}` : `All ${count}`, () => { only = state; write(); });
      made.dataset.state = state || '';
      made.setAttribute('aria-pressed', String(only === state));
      made.disabled = count === 0;
      return made;
    }));
    $('entries').replaceChildren(...page.entries.filter(entry => !only || entry.claims.some(claim => claim.verdict === only)).map(entry => drawn(entry)));
    folded();
  }

  function link() {
    const a = make('a', 'The paper');
    Object.assign(a, { href: page.url, target: '_blank', rel: 'noopener noreferrer' });
    return a;
  }

  function bar() {
    verdictBar($('bar'), page.counts);
    $('list').querySelectorAll('button').forEach((/** @type {HTMLButtonElement} */ made) => {
      made.querySelector('.sv-verdict-counts')?.remove();
      made.append(verdictCounts(page.sources[String(made.dataset.source)]));
    });
  }

  /** @param {import('./types.js').Entry} entry */
  const drawn = entry => entryCard(entry, shown, running, () => start(entry));

  // ---- measuring again ----

  /** @param {import('./types.js').Entry} entry */
  function start(entry) {
    running = { source: shown, name: entry.name, text: 'Waiting for the machine.' };
    refresh();
    ask({ source: shown, name: entry.name });
  }

  function refresh() {
    cards().forEach(box => {
      const mine = running && running.source === shown && running.name === box.dataset.name;
      const other = query(box, '.sv-entry-links button'), line = query(box, '.sv-entry-status');
      if (other) other.disabled = running !== null;
      if (line && mine) line.textContent = running?.text;
    });
  }

  /** @param {import('./types.js').News} news */
  function received(news) {
    if (!news.state) return;
    if (news.state === 'running') {
      running = { source: news.source, name: news.name, text: news.text };
      refresh();
      return;
    }
    running = null;
    const of = known.get(news.source);
    if (news.state === 'done' && of) {
      const place = of.entries.findIndex(entry => entry.name === news.name), before = of.entries[place];
      of.entries[place] = news.entry;
      for (const counts of [of.mine, ...[...known.values()].flatMap(source => [source.counts, source.sources[news.source]])]) {
        before.claims.forEach(claim => { counts[claim.verdict] -= 1; });
        news.entry.claims.forEach(claim => { counts[claim.verdict] += 1; });
      }
      if (of === page) {
        const made = drawn(news.entry);
        made.open = true;
        card(news.name)?.replaceWith(made);
        bar();
      }
    }
    refresh();
    if (news.state === 'failed') {
      const box = news.source === shown ? card(news.name) : null;
      if (box) query(box, '.sv-entry-status').textContent = news.text;
    }
  }

  open(shown);
  return (/** @type {string} */ value) => received(JSON.parse(value));
}

/**
 * A bar of all claims, as long for each verdict as it is frequent.
 * @param {HTMLElement} box
 * @param {import('./types.js').Counts} counts
 */
function verdictBar(box, counts) {
  const total = STATES.reduce((sum, state) => sum + counts[state], 0);
  box.setAttribute('role', 'img');  // not before it has a name
  box.setAttribute('aria-label', `${total} claims: ` + STATES.map(state => `${counts[state]} ${state}`).join(', '));
  box.replaceChildren(...STATES.filter(state => counts[state]).map(state => {
    const part = make('span', `${MARKS[state]} ${counts[state]} ${state}`);
    part.dataset.state = state;
    part.style.flexGrow = String(counts[state]);
    return part;
  }));
}

/**
 * A button that expands all cards, or collapses them once all are expanded; returns what writes its label.
 * @param {HTMLButtonElement} made
 * @param {HTMLElement} root
 * @param {() => HTMLDetailsElement[]} cards
 */
function foldsAll(made, root, cards) {
  const all = () => cards().every(box => box.open);
  const label = () => { made.textContent = all() ? 'Collapse all' : 'Expand all'; };
  made.addEventListener('click', () => {
    const wanted = !all();
    cards().forEach(box => { box.open = wanted; });
  });
  root.addEventListener('toggle', label, true);  // of each card: it does not bubble
  return label;
}
