import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { lineChart } from '../figures/chart.js';
import { entryCard } from '../papers/entry.js';
import { paperPages } from '../papers/papers.js';
import { freshPage } from './page.js';

freshPage();

const lines = { kind: 'lines', x: 'n', y: 't', log_x: false, log_y: false, series: [{ name: 'a', points: [[0, 3], [10, 3]], look: 'line' }] };
const claim = {
  says: 'twice <i>as fast</i>', place: 'Table 1', proof: false, relation: '>', bound: 2, estimate: 1.23456, low: 1.1, high: 1.4,
  seeds: 3, texts: 36, verdict: 'differs', sentence: '',
};
const entry = {
  name: 'table-1', place: 'Table 1', title: 'Speed', says: '<b>fast</b>', quoted: null, state: 'differs', made: '',
  claims: [claim, { ...claim, proof: true, relation: '<', bound: 1e-12, estimate: 2e-17, low: 2e-17, high: 2e-17, seeds: null, texts: null, verdict: 'holds by proof' },
    { ...claim, relation: 'within', bound: [1, 1.5], estimate: null, low: null, high: null, seeds: null, texts: null, verdict: 'not available here', sentence: 'No such machine.' }],
  blocks: [lines, { columns: ['way', 'x'], rows: [['a path', 0.00001234], [null, 1234.5]] }],
  opens: [{ label: 'Open in Live', query: 'tab=live' }], measurable: true,
};

test('a level line is drawn above nothing, not in mid-air', () => {
  const labels = [...lineChart(lines).querySelectorAll('text')].map(text => text.textContent);
  assert.ok(labels.includes('0') && labels.includes('3') && !labels.includes('2.8'), labels.join(' '));
});

test('points that are not finite are left out, and no points make no chart', () => {
  const holed = { ...lines, series: [{ name: 'a', points: [[0, null], [null, 2], [1, 1], [2, 4]], look: 'line' }] };
  assert.equal(lineChart(holed).querySelectorAll('circle').length, 3, 'two points and the legend');
  assert.equal(lineChart({ ...lines, series: [] }).children.length, 0);
  assert.equal(lineChart({ ...holed, log_y: true, series: [{ name: 'a', points: [[1, 0], [2, -1]], look: 'dots' }] }).children.length, 0);
});

test('a card tells what the source says as text, its numbers short, and measures again when asked', () => {
  let asked = 0;
  const card = entryCard(entry, 'svip', null, () => { asked += 1; });
  assert.equal(card.querySelector('.sv-entry-says p').textContent, '<b>fast</b>');
  assert.deepEqual([...card.querySelectorAll('.sv-entry-here td')].map(cell => cell.textContent), ['a path', '1.2e-5', '–', '1,235']);
  assert.equal(card.querySelector('a').getAttribute('href'), '?tab=live');
  card.querySelector('button').click();
  assert.equal(asked, 1);
});

test('a claim stands beside its bound, its interval and its verdict', () => {
  const rows = [...entryCard(entry, 'svip', null, () => {}).querySelectorAll('.sv-claims tbody tr')];
  assert.deepEqual(rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent)), [
    ['twice <i>as fast</i>Table 1', '> 2', '1.231.1 to 1.4, 36 texts of 3 seeds', '≠differs'],
    ['twice <i>as fast</i>Table 1', 'error below 1.0e-12', 'error 2.0e-17', '∎holds by proof'],
    ['twice <i>as fast</i>Table 1', '1 to 1.5', '–', '–not available hereNo such machine.'],
  ]);
});

test('only the entry of the right source says how its measurement goes', () => {
  const running = { source: 'dyspec', name: 'table-1', text: 'Timing.' };
  const [own, other] = ['dyspec', 'svip'].map(source => entryCard(entry, source, running, () => {}));
  assert.equal(own.querySelector('.sv-entry-status').textContent, 'Timing.');
  assert.equal(other.querySelector('.sv-entry-status').textContent, '');
  assert.ok(other.querySelector('button').disabled || other.querySelector('button').hasAttribute('disabled'));
});

test('entries are folded to one line with their verdicts, a link unfolds its own, and a verdict filters', async () => {
  const counts = { reproduced: 0, 'holds by proof': 1, undecided: 0, differs: 1, 'not available here': 1 };
  const two = [entry, { ...entry, name: 'table-2', claims: [claim] }];
  const page = { name: 'svip', title: 'SVIP', cite: '', url: '', about: '', counts, mine: counts, sources: { svip: counts }, entries: two };
  globalThis.location = { search: '?paper=svip&entry=table-2' };
  const box = freshPage(readFileSync(new URL('../papers/papers.html', import.meta.url), 'utf8')).body;
  globalThis.window.Element.prototype.scrollIntoView = function scroll() { this.scrolled = true; };
  const fetched = Promise.resolve(JSON.stringify(page));
  paperPages(box, { sources: [{ name: 'svip', title: 'SVIP' }] }, () => fetched, () => {});
  await fetched;
  await new Promise(done => { setTimeout(done); });
  const cards = () => [...box.querySelectorAll('.sv-entry')];
  assert.deepEqual(cards().map(card => [card.dataset.name, Boolean(card.open), Boolean(card.scrolled)]), [['table-1', false, false], ['table-2', true, true]]);
  assert.equal(cards()[0].querySelector('summary').textContent, 'Table 1 Speed∎ 1≠ 1– 1');
  assert.equal(box.querySelector('.sv-papers-list button').textContent, 'SVIP ∎ 1≠ 1– 1');
  box.querySelector('.sv-papers-fold').click();
  assert.ok(cards().every(card => card.open));
  box.querySelector('.sv-papers-filter [data-state="holds by proof"]').click();
  assert.deepEqual(cards().map(card => card.dataset.name), ['table-1']);
});
