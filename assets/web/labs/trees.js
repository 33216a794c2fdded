// The Tree lab: a vector and sizes, the trees of several builders, and one of them large with its
// attention mask.

import { button, finder, make, makeSvg, press, query, slider } from '../base/dom.js';
import { opensFiles, turnsPages } from '../base/page.js';
import { treeView } from '../tree/view.js';
import { asker } from './asker.js';
import { nodeText, stepOf, treePicture } from './tree_picture.js';

/** @typedef {import('./types.js').LabTree} LabTree */

/** @type {Record<string, import('../tree/view.js').Way>} */
const WAYS = { ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'parent', ArrowRight: 'child' };

/**
 * @param {HTMLElement} element
 * @param {import('./types.js').TreeStart} start
 * @param {Ask} askTrees
 */
export function treeLab(element, start, askTrees) {
  const root = query(element, '.sv-lab', HTMLElement),
    $ = finder(root, 'sv-lab-');
  const sizes = /** @type {Record<string, HTMLInputElement>} */ ({});
  let trees = /** @type {LabTree[]} */ ([]),
    name = 'sequoia',
    about = '',
    file = ''; // the text of one that was opened, until it is answered
  const picture = treeView(query(root, '.sv-lab-tree svg', SVGSVGElement), {
    hover: () => {},
    pick: key => select(Number(key)),
    unfolded: true,
  });
  const ask = asker(root, request, answered, text => {
    file = '';
    $('status').textContent = text;
  });

  // ---- controls ----

  for (const [size, { title, min, max, value }] of Object.entries(start.sizes)) {
    const label = make('label', title),
      shown = make('output', value);
    sizes[size] = slider({ min, max, step: 1, value }, now => {
      shown.textContent = String(now);
      ask(60);
    });
    label.append(sizes[size], shown); // the label names the first of them
    $('sizes').append(label);
  }
  $('builder').append(...start.builders.map(([value, title]) => new Option(title, value)));
  $('builder').addEventListener('change', () => {
    name = $('builder').value;
    ask();
  });
  $('vector').addEventListener('input', () => {
    mark(-1);
    ask(300);
  });
  opensFiles(
    root,
    { button: $('open'), input: $('file'), isVisible: () => root.offsetParent !== null },
    async opened => {
      file = withoutTexts(await opened.text());
      mark(-1);
      $('own').open = true;
      ask();
    },
  );
  $('form').addEventListener('submit', (/** @type {Event} */ event) => event.preventDefault());
  $('presets').append(...start.presets.map((preset, i) => button(preset.title, () => load(i))));

  /** @param {number} number */
  function mark(number) {
    press($('presets'), number);
    about = start.presets[number]?.about ?? '';
  }

  /** @param {string} size @param {number} value */
  function setSize(size, value) {
    sizes[size].value = String(value);
    query(sizes[size].parentElement ?? root, 'output').textContent = String(value);
  }

  /** @param {number} number @param {boolean} [asks] */
  function load(number, asks = true) {
    const { vector, nodes, levels } = start.presets[number];
    $('vector').value = textOf(vector);
    setSize('nodes', nodes);
    setSize('levels', levels);
    mark(number);
    if (asks) ask();
  }

  // ---- trees ----

  function request() {
    const numbers = Object.fromEntries(
      Object.entries(sizes).map(([size, track]) => [size, Number(track.value)]),
    );
    return askTrees({ vector: vectorOf($('vector').value), builder: name, file, ...numbers });
  }

  /** @param {import('./types.js').Trees} answer */
  function answered(answer) {
    if (file) about = 'The vector of the file; a chain’s has first children only.';
    show(answer);
    if (!file) return;
    file = '';
    const { vector } = answer;
    $('vector').value = textOf(vector);
    if (Array.isArray(vector[0])) setSize('levels', vector.length - 1);
    ask(); // with as many levels as it has
  }

  /** @param {import('./types.js').Trees} answer */
  function show(answer) {
    $('status').textContent = about;
    trees = answer.trees;
    const max = Math.max(...trees.map(tree => tree.tokens));
    $('cards').replaceChildren(...trees.map(tree => card(tree, max)));
    $('answer').textContent = answer.answer;
    $('why').textContent = answer.why;
    $('caption').textContent = answer.caption;
    open(trees.some(tree => tree.name === name) ? name : 'sequoia');
  }

  /** @param {LabTree} tree @param {number} max tokens of the best one */
  function card(tree, max) {
    const figure = make('figure', '', 'sv-lab-card'),
      bar = make('i');
    const passes = `${tree.passes} draft ${tree.passes === 1 ? 'pass' : 'passes'}`;
    bar.style.width = `${(100 * tree.tokens) / max}%`;
    figure.dataset.name = tree.name;
    figure.addEventListener('click', () => {
      open(tree.name);
      query(root, '.sv-lab-tree').scrollIntoView({ block: 'nearest' });
    }); // the menu does the same by keyboard
    figure.append(
      make('b', tree.title),
      treePicture(tree),
      bar,
      make('span', `${tree.tokens.toFixed(2)} tokens per pass`),
      ...Object.entries(tree.speeds).map(([place, speed]) =>
        make('span', `${place} ${speed.toFixed(2)}\u00a0×`),
      ),
      make('small', `${tree.nodes} nodes, ${tree.levels} levels, ${passes}`),
    );
    return figure;
  }

  /** @param {string} builder */
  function open(builder) {
    name = builder;
    const tree = /** @type {LabTree} */ (trees.find(other => other.name === name));
    for (const other of $('cards').children)
      other.classList.toggle('own', other.dataset.name === name);
    $('builder').value = name;
    $('name').textContent = `${tree.title}: ${tree.settings}`;
    picture.show(stepOf(tree));
    $('mask').replaceChildren(maskPicture(tree));
    select(0);
  }

  /** @param {number} node */
  function select(node) {
    const tree = /** @type {LabTree} */ (trees.find(other => other.name === name));
    picture.select(String(node), true);
    $('node').textContent = nodeText(tree, node);
    query(root, '.sv-lab-mask .row').setAttribute('y', String(node));
  }

  $('tree').addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const way = WAYS[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    select(Number(picture.walk(way)));
  });

  turnsPages($('main'));
  load(0, false);
  show(JSON.parse(start.first));
  root.setAttribute('aria-busy', 'false');
}

/**
 * A profile without what was measured on each text, which is most of a large file. What is no JSON
 * is sent as it is and answered with a sentence.
 * @param {string} text
 */
function withoutTexts(text) {
  try {
    const data = JSON.parse(text);
    return JSON.stringify(data, (name, value) => (name === 'by_text' ? undefined : value));
  } catch {
    return text;
  }
}

/** A vector as it is typed, or one for each level. @param {number[] | number[][]} vector */
const textOf = vector =>
  vector
    .map(level => [level].flat().map(weight => Number(weight.toPrecision(4))))
    .map(level => level.join(', '))
    .join(Array.isArray(vector[0]) ? '; ' : ', ');

/** @param {string} text @returns {number[] | number[][]} */
function vectorOf(text) {
  const levels = text.split(';').map(level =>
    level
      .split(/[\s,[\]()]+/)
      .filter(Boolean)
      .map(Number),
  );
  return levels.length > 1 ? levels : levels[0];
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
