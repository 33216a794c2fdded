import assert from 'node:assert/strict';
import test from 'node:test';

import { plainCopy, xmlText } from '../tree/picture.js';
import { treeView } from '../tree/view.js';
import { canvas, fire, freshPage, step } from './page.js';

function drawTree(one, more = {}) {
  const svg = canvas(freshPage(), more.width, more.height),
    told = { hovers: [], picks: [] };
  const tree = treeView(svg, {
    inspect: () => told.hovers.push(tree.over),
    pick: key => told.picks.push(key),
  });
  tree.show(one);
  const labels = () =>
    [...svg.querySelectorAll('.node > text')].map(node => node.textContent.trim());
  return { svg, tree, told, labels };
}

const chain = texts =>
  step(
    texts.map((_, i) => i - 1),
    `r${'a'.repeat(texts.length - 1)}`,
    { texts },
  );

const placesOf = svg =>
  [...svg.querySelectorAll('.node')].map(node =>
    Number(/translate\(([\d.]+)/.exec(node.getAttribute('transform'))[1]),
  );

test('a node is pointed at once, however often the pointer moves over it', () => {
  const { svg, told, tree } = drawTree(chain(['a', 'b', 'c'])),
    [, one, other] = svg.querySelectorAll('.node');
  for (const node of [one, one.querySelector('.hit'), one, other, one])
    fire(node, 'pointermove', { pointerId: 1 });
  assert.deepEqual(told.hovers, ['1', '2', '1']);
  fire(svg, 'pointerleave');
  fire(svg, 'pointerleave');
  assert.deepEqual(told.hovers, ['1', '2', '1', null]);
  tree.show(chain(['x', 'y', 'z']));
  fire(svg.querySelectorAll('.node')[1], 'pointermove', { pointerId: 1 });
  assert.equal(told.hovers.at(-1), '1', 'another step has another node there');
});

test('labels of wide letters end before the next column, as measured', () => {
  const { svg } = drawTree(
    chain([
      '漢字仮名交じり文の長い札漢字仮名交じり文の長い札',
      '漢字仮名交じり文の長い札',
      'latin text of some length',
      'end',
    ]),
    { width: 1200 },
  );
  const columns = placesOf(svg);
  const texts = [...svg.querySelectorAll('.node > text')].map(node => node.textContent);
  for (let i = 0; i < 3; i++)
    assert.ok(columns[i] + 13 + globalThis.wide(texts[i]) < columns[i + 1] - 10, texts[i]);
  assert.ok(texts[0].endsWith('…'), 'a very long one is cut');
});

test('a long label takes a wider column, and edges to other rows have room to bend', () => {
  const texts = ['extraordinarily', ' of', ' a', ' long', ' in', ' the'];
  const fan = step([-1, 0, 1, 2, 0, 4], 'raaauu', { texts });
  for (const width of [1000, 620]) {
    const { svg, labels } = drawTree(fan, { width });
    const x = placesOf(svg);
    assert.equal(labels()[0], 'extraordinarily');
    assert.ok(x[1] - x[0] > x[2] - x[1], 'a short one leaves it the room');
    for (const edge of svg.querySelectorAll('.edge')) {
      const [, begin, , end] = /^M([\d.]+) ([\d.]+)C.* ([\d.]+) [\d.]+$/.exec(edge.getAttribute('d')) ?? [];
      assert.ok(!begin || end - begin > 15, `${edge.getAttribute('d')} is a wall`);
    }
  }
});

test('nine columns of numbers fit where they are all that is drawn', () => {
  const numbers = chain(Array.from({ length: 9 }, () => '0.08'));
  for (const width of [350, 720]) {
    const { svg, labels } = drawTree(numbers, { width });
    assert.ok(parseFloat(svg.style.width) <= width, `${svg.style.width} in ${width}`);
    assert.ok(labels().every(text => text === '0.08'));
  }
});

test('names stand beside the marks, or below them where that is too wide', () => {
  const words = ['The', ' idea', ' of', ' a', ' single', ' very', ' long-molecule'];
  for (const [width, isBelow] of [
    [1200, false],
    [500, true],
  ]) {
    const { svg, labels } = drawTree(chain(words), { width });
    assert.ok(parseFloat(svg.style.width) <= width - 19, `${svg.style.width} in ${width}`);
    assert.equal(labels().at(-1), '·long-molecule');
    assert.equal(Number(svg.querySelector('.node > text').getAttribute('y')) > 0, isBelow);
  }
});

test('a tree takes the rows that there are, and what was not visited has no name where there are few', () => {
  const wide = step([-1, ...new Array(20).fill(0), ...new Array(20).fill(1)], `ra${'u'.repeat(39)}`);
  for (const height of [160, 240, 1400]) {
    const { svg, labels } = drawTree(wide, { height });
    assert.ok(parseFloat(svg.style.height) <= height - 19, `${svg.style.height} in ${height}`);
    assert.equal(svg.querySelectorAll('.node').length, 41);
    assert.equal(labels().filter(Boolean).length, height === 1400 ? 41 : 2);
  }
});

test('of a large tree that no rule has seen, the likely nodes have a name', () => {
  const q = [1, 0.5, ...new Array(39).fill(0.01)];
  const many = step([-1, ...new Array(40).fill(0)], `r${'u'.repeat(40)}`, { q });
  const { labels } = drawTree(many, { height: 400 });
  assert.equal(labels().filter(Boolean).length, 2);
});

test('a box without room inside its edges is left as it is', () => {
  for (const size of [{ width: 20 }, { height: 20 }, { height: 4 }]) {
    const { svg } = drawTree(chain(['a', 'b']), size);
    assert.equal(svg.querySelectorAll('.node').length, 0);
  }
});

test('text is only ever text', () => {
  const { svg } = drawTree(chain(['<img src=x onerror=alert(1)>', '${1}', '</svg><script>']));
  assert.equal(svg.querySelectorAll('img, script').length, 0);
});

test('keys walk the marks', () => {
  const one = step([-1, 0, 0, 1, 3, 2], 'rxauua', { last: 'bonus' }),
    { tree, told } = drawTree(one, { height: 30 });
  const walk = way => {
    tree.keys[`Arrow${way}`]();
    const key = told.picks.at(-1);
    tree.select(key);
    return key;
  };
  assert.equal(walk('Down'), '0');
  assert.deepEqual(['Down', 'Down', 'Down', 'Up', 'Up'].map(walk), ['1', '3', '4', '3', '1']);
});

test('a tree that left the page hears no more of large type', () => {
  const { svg } = drawTree(chain(['a', 'b']));
  let drawn = 0;
  svg.firstChild.replaceChildren = () => {
    drawn++;
  };
  fire(window, 'resize');
  svg.parentElement.remove();
  fire(window, 'resize');
  assert.equal(drawn, 1);
});

test('where more than one drafter guessed, nodes are outlined by drafter, with no two outlines alike', () => {
  const names = ['model', 'early-exit', 'medusa', 'eagle', 'ngram', 'retrieval'];
  const one = step([-1, 0, 0, 0, 0, 0, 0], 'raxuuuu', { drafter: [null, ...names] }),
    alone = step([-1, 0], 'ra', { drafter: [null, 'model'] });
  const { svg, tree } = drawTree(one),
    outlines = () => [...svg.querySelectorAll('.outline')];
  assert.deepEqual(new Set(outlines().map(path => path.dataset.drafter)), new Set(names));
  assert.equal(
    new Set(outlines().map(path => path.getAttribute('d') + path.getAttribute('stroke-dasharray')))
      .size,
    names.length,
  );
  assert.equal(svg.querySelectorAll('.node.root .outline').length, 0);
  tree.show(alone);
  assert.equal(outlines().length, 0, 'a single drafter has no outline');
});

test('frames hide what is not there yet and what is tried later', () => {
  const one = step([-1, 0, 0, 1], 'rxau', { last: 'bonus', pieces: ['a', 'b'] }),
    { svg, tree } = drawTree(one);
  const kinds = () =>
    [...svg.querySelectorAll('.node')].map(node => node.getAttribute('class').replace('node ', ''));
  tree.show(one, {
    phase: 1,
    lastNode: 1,
    later: new Set([0, 1, 2, 3]),
    at: 1,
    text: '',
  });
  assert.deepEqual(kinds().sort(), ['root', 'unreached current']);
  tree.show(one, { phase: 3, lastNode: 4, later: new Set([2]), at: 1, text: '' });
  assert.deepEqual(kinds().sort(), ['rejected current', 'root', 'unreached', 'unreached']);
  tree.show(one);
  assert.deepEqual(kinds().sort(), ['accepted', 'bonus', 'rejected', 'root', 'unreached']);
});

test('a tree keeps a size at which it can be seen, and its box scrolls', () => {
  const long = chain(Array(40).fill('word'));
  const { svg } = drawTree(long, { width: 354, height: 320 });
  assert.ok(parseFloat(svg.style.width) > 354);
});

test('a picture holds drawn elements only: no areas for the pointer, no classes, no handlers', () => {
  const document = freshPage(
    '<svg><g class="node a" data-at="0" onclick="alert(1)" transform="translate(1 2)"><rect class="hit" width="9"/><path class="shape" d="M0 0"/><text x="3">a</text></g></svg>',
  );
  const copy = plainCopy(document.querySelector('g'));
  assert.equal(copy.querySelectorAll('rect').length, 0);
  assert.deepEqual(
    [...copy.attributes].map(({ name }) => name),
    ['transform'],
  );
  assert.equal(copy.querySelector('path').getAttribute('d'), 'M0 0');
  assert.equal(copy.querySelector('text').textContent, 'a');
});

test('characters that XML has no place for become a sign', () => {
  assert.equal(xmlText('a\u0001b\ud800c😀\n'), 'a\ufffdb\ufffdc😀\n');
});
