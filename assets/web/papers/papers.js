// @ts-nocheck: drawn from plain JSON and its own template; types have not been written for it yet
// The papers: which source is shown, its entries with what the source says beside what was measured here, and how many
// of them agree. Text only ever becomes text nodes.

import { make } from '../base/dom.js';
import { MARKS, entryCard } from './entry.js';

/**
 * @param {HTMLElement} element
 * @param {{ sources: { name: string, title: string }[] }} first
 * @param {(name: string) => Promise<string>} fetchPage
 * @param {(wanted: { source: string, name: string }) => void} ask
 */
export function paperPages(element, first, fetchPage, ask) {
  const root = element.querySelector('.sv-papers'), $ = selector => root.querySelector(selector);
  const STATES = ['reproduced', 'differs', 'not reproducible'];
  const known = new Map(), asked = new URLSearchParams(location.search);
  const names = first.sources.map(source => source.name);
  let shown = names.includes(asked.get('paper')) ? asked.get('paper') : names[0], only = null, page = null;
  let leadTo = asked.get('entry'), running = null;

  first.sources.forEach(source => {
    const button = make('button', source.title);
    button.type = 'button';
    button.dataset.source = source.name;
    button.addEventListener('click', () => open(source.name));
    $('.sv-papers-list').append(button);
  });

  async function open(name) {
    shown = name;
    $('.sv-papers-list').querySelectorAll('button').forEach(button => {
      if (button.dataset.source === name) button.setAttribute('aria-current', 'page'); else button.removeAttribute('aria-current');
    });
    root.setAttribute('aria-busy', 'true');
    try {
      if (!known.has(name)) known.set(name, JSON.parse(await fetchPage(name)));
    } catch {
      if (name === shown) $('.sv-papers-about').textContent = 'This source did not arrive. The server may be gone; choose it again to retry.';
      return;
    }
    if (name !== shown) return;
    page = known.get(name);
    write();
    root.setAttribute('aria-busy', 'false');
    if (leadTo) {
      const target = [...root.querySelectorAll('.sv-entry')].find(entry => entry.dataset.name === leadTo);
      if (target) target.scrollIntoView({ block: 'start' });
      leadTo = null;
    }
  }

  // ---- the bar, and the head of a source ----

  function write() {
    $('.sv-papers-head h2').textContent = page.title;
    $('.sv-papers-cite').replaceChildren(page.cite + ' ', ...(page.url && page.url.startsWith('https://') ? [link()] : []));
    $('.sv-papers-about').textContent = page.about;
    bar();
    const filter = $('.sv-papers-filter');
    filter.replaceChildren(...[null, ...STATES].map(state => {
      const count = state ? page.mine[state] : STATES.reduce((sum, one) => sum + page.mine[one], 0);
      const button = make('button', state ? `${MARKS[state]} ${state} ${count}` : `All ${count}`);
      button.type = 'button';
      button.dataset.state = state || '';
      button.setAttribute('aria-pressed', only === state);
      button.disabled = count === 0;
      button.addEventListener('click', () => { only = state; write(); });
      return button;
    }));
    $('.sv-papers-entries').replaceChildren(...page.entries.filter(entry => !only || entry.status === only).map(entry => drawn(entry)));
  }

  function link() {
    const a = make('a', 'The paper');
    Object.assign(a, { href: page.url, target: '_blank', rel: 'noopener noreferrer' });
    return a;
  }

  function bar() {
    const box = $('.sv-papers-bar'), total = STATES.reduce((sum, state) => sum + page.counts[state], 0);
    box.setAttribute('aria-label', `${total} entries: ` + STATES.map(state => `${page.counts[state]} ${state}`).join(', '));
    box.replaceChildren(...STATES.filter(state => page.counts[state]).map(state => {
      const part = make('span', `${MARKS[state]} ${page.counts[state]} ${state}`);
      part.dataset.state = state;
      part.style.flexGrow = page.counts[state];
      return part;
    }));
    $('.sv-papers-list').querySelectorAll('button').forEach(button => {
      const counts = page.sources[button.dataset.source];
      button.title = STATES.map(state => `${counts[state]} ${state}`).join(', ');
    });
  }

  const drawn = entry => entryCard(entry, shown, running, () => start(entry));

  // ---- measuring again ----

  function start(entry) {
    running = { source: shown, name: entry.name, text: 'Waiting for the machine.' };
    refresh();
    ask({ source: shown, name: entry.name });
  }

  function refresh() {
    root.querySelectorAll('.sv-entry').forEach(box => {
      const mine = running && running.source === shown && running.name === box.dataset.name;
      const button = box.querySelector('.sv-entry-links button'), line = box.querySelector('.sv-entry-status');
      if (button) button.disabled = running !== null;
      if (line && (mine || running === null)) line.textContent = mine ? running.text : line.textContent;
    });
  }

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
      for (const counts of [of.mine, ...[...known.values()].flatMap(one => [one.counts, one.sources[news.source]])]) {
        counts[before.status] -= 1;
        counts[news.entry.status] += 1;
      }
      if (of === page) {
        const box = [...root.querySelectorAll('.sv-entry')].find(entry => entry.dataset.name === news.name);
        if (box) box.replaceWith(drawn(news.entry));
        bar();
      }
    }
    refresh();
    if (news.state === 'failed') {
      const box = [...root.querySelectorAll('.sv-entry')].find(entry => entry.dataset.name === news.name);
      if (box) box.querySelector('.sv-entry-status').textContent = news.text;
    }
  }

  open(shown);
  return value => received(JSON.parse(value));
}
