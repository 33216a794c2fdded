// The Tree lab: a vector and sizes, the trees of several builders, and one of them large with its
// attention mask.

import { button, finder, make, makeSvg, press, query, slider } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { onDrop, turnsPages } from '../base/page.js';
import { plural } from '../base/text.js';
import { treeView } from '../tree/view.js';
import { asker } from './asker.js';
import { nodeText, smallPicture, stepOf } from './tree_picture.js';

/** @typedef {import('./types.js').LabTree} LabTree */

/**
 * @param {HTMLElement} element
 * @param {import('./types.js').TreeStart} start
 * @param {Ask} askTrees
 */
export function treeLab(element, start, askTrees) {
  const root = query(element, '.sv-lab'),
    $ = finder(root, 'sv-lab-');
  /** @type {Record<string, HTMLInputElement>} */
  const sizes = {};
  /** @type {LabTree[]} */
  let trees = [];
  let large = /** @type {LabTree} */ ({});
  let about = start.own;
  let at = 0; // the selected node
  const picture = treeView(query(root, '.sv-lab-tree svg'), {
    pick: key => select(Number(key)),
  });
  const ask = asker(root, request, show, text => {
    $('status').textContent = `${text} The trees are those of the numbers before.`;
    root.classList.add('stale');
  });

  // ---- controls ----

  for (const [size, { title, minimum, maximum, default: value }] of Object.entries(start.sizes)) {
    const shown = make('b', value);
    sizes[size] = slider({ min: minimum, max: maximum, step: 1, value }, now => {
      shown.textContent = String(now);
      ask(60);
    });
    $('sizes').append(make('label', [title, shown, sizes[size]]));
  }
  $('builder').append(...start.builders.map(([value, title]) => new Option(title, value)));
  $('builder').onchange = () => ask();
  const edited = () => {
    mark(-1);
    ask(300);
  };
  $('vector').oninput = edited;
  onDrop(root, async file => {
    $('vector').value = await file.text();
    edited();
  });
  $('presets').append(...start.presets.map((preset, i) => button(preset.title, () => load(i))));

  /** @param {number} number */
  function mark(number) {
    press($('presets'), number);
    about = start.presets[number]?.about ?? start.own;
  }

  /** @param {number} number @param {boolean} [asks] */
  function load(number, asks = true) {
    const { vector, ...numbers } = start.presets[number];
    mark(number);
    $('vector').value = vector;
    for (const [size, track] of Object.entries(sizes)) {
      track.value = /** @type {any} */ (numbers)[size];
      query(track.parentElement ?? root, 'b').textContent = track.value;
    }
    $('builder').value = 'sequoia';
    if (asks) ask();
  }

  // ---- trees ----

  function request() {
    const numbers = Object.fromEntries(
      Object.entries(sizes).map(([size, track]) => [size, track.valueAsNumber]),
    );
    return askTrees({ vector: $('vector').value, builder: $('builder').value, ...numbers });
  }

  /** @param {import('./types.js').Trees} answer */
  function show(answer) {
    $('status').textContent = '';
    root.classList.remove('stale');
    trees = answer.trees;
    $('cards').replaceChildren(...trees.map(card));
    // no name is broken
    $('answer').textContent = answer.answer.replaceAll('-', '\u2011').replace('On ', 'On\xa0');
    $('about').textContent = about;
    open(trees.find(tree => tree.name === $('builder').value) ?? large);
  }

  /** @param {LabTree} tree */
  function card(tree) {
    const tokens = [make('b', tree.tokens.toFixed(2)), ' tokens per pass'];
    const figure = make('figure', [
      make('h3', tree.title),
      make('small', `${tree.nodes} nodes`),
      smallPicture(tree),
      make('p', tokens, 'tokens'),
      ...Object.entries(tree.speeds).map(([place, speed]) => speedLine(place, speed)),
      make('p', tree.mark, 'tokens rejected'),
    ]);
    figure.dataset.name = tree.name;
    figure.onclick = () => {
      open(tree);
      for (const part of ['tree', 'name']) $(part).scrollIntoView({ block: 'nearest' });
    }; // the menu does the same by keyboard
    return figure;
  }

  /** Where the weights are, and how fast. @param {string} place @param {number} speed */
  function speedLine(place, speed) {
    const fastest = Math.max(...trees.map(tree => tree.speeds[place]));
    const isFastest = speed.toFixed(2) === fastest.toFixed(2) && speed > 1;
    const factor = make(isFastest ? 'strong' : 'data', `${speed.toFixed(2)}\u00a0×`);
    return make('span', [`${place} `, factor]);
  }

  /** @param {LabTree} tree */
  function open(tree) {
    large = tree;
    $('builder').value = tree.name;
    for (const other of $('cards').children)
      other.classList.toggle('own', other.dataset.name === tree.name);
    const sizesOf = `${plural(tree.nodes, 'node')}, ${plural(tree.levels, 'level')}`;
    $('name').textContent = `${tree.title}: ${sizesOf}, ${plural(tree.passes, 'draft pass')}`;
    // Every row of a large tree, one for each leaf, has its height, and the page scrolls.
    $('tree').style.setProperty('--rows', tree.parents.length + 1 - new Set(tree.parents).size);
    picture.show(stepOf(tree));
    $('mask').replaceChildren(maskPicture(tree));
    select(0);
  }

  /** @param {number} node */
  function select(node) {
    at = node;
    picture.select(String(node), true);
    $('node').textContent = nodeText(large, node);
    query(root, '.sv-lab-mask .row').setAttribute('y', node);
  }

  const box = $('tree');
  const acts = {
    ...picture.keys,
    ArrowLeft: () => select(Math.max(0, large.parents[at])),
    ArrowRight: () => select(Math.max(at, large.parents.indexOf(at))), // a child, if any
  };
  turnsPages($('main')); // first: presented, left and right turn pages
  keys(box, ({ target }) => (box.contains(target) ? acts : {}));
  load(0, false);
  show(JSON.parse(start.first));
  root.setAttribute('aria-busy', 'false');
}

/** A row for each node, filled at itself and its ancestors. @param {LabTree} tree */
function maskPicture({ parents, title }) {
  const n = parents.length,
    svg = makeSvg('svg', {
      viewBox: `0 0 ${n} ${n}`,
      role: 'img',
      'aria-label': `attention mask of ${title}, ${n} rows`,
    });
  let cells = '';
  parents.forEach((_, node) => {
    for (let above = node; above >= 0; above = parents[above]) cells += `M${above} ${node}h1v1h-1z`;
  });
  makeSvg('rect', { class: 'paper', width: n, height: n }, svg);
  makeSvg('rect', { class: 'row', width: n, height: 1 }, svg);
  makeSvg('path', { d: cells }, svg);
  return svg;
}
