// The Tree lab: a vector and sizes, the trees of several builders, and one of them large with its attention mask.

import { button, draw, finder, make, query } from '../base/dom.js';
import { asker } from './asker.js';
import { nodeText, placed, treePicture } from './tree_picture.js';

/** @typedef {import('./types.js').LabTree} LabTree */

/**
 * @param {HTMLElement} element
 * @param {import('./types.js').TreeStart} start
 * @param {import('../base/types.js').Ask} askTrees
 */
export function treeLab(element, start, askTrees) {
  const root = query(element, '.sv-lab', HTMLElement), $ = finder(root, 'sv-lab-');
  const sizes = /** @type {Record<string, HTMLInputElement>} */ ({});
  let trees = /** @type {LabTree[]} */ ([]), name = 'sequoia', selected = 0, about = '';
  const ask = asker(root, work, text => { $('status').textContent = text; });

  // ---- controls ----

  for (const [size, { title, min, max, value }] of Object.entries(start.sizes)) {
    const label = make('label', title), shown = make('output', value), slider = make('input', '', 'sv-track');
    Object.assign(slider, { type: 'range', min: String(min), max: String(max), value: String(value) });
    slider.addEventListener('input', () => { shown.textContent = slider.value; ask(60); });
    label.append(shown, slider);
    $('sizes').append(label);
    sizes[size] = slider;
  }
  $('builder').append(...start.builders.map(([value, title]) => new Option(title, value)));
  $('builder').addEventListener('change', () => { name = $('builder').value; ask(); });
  $('vector').addEventListener('input', () => { mark(-1); ask(300); });
  $('form').addEventListener('submit', (/** @type {Event} */ event) => event.preventDefault());
  $('presets').append(...start.presets.map((preset, i) => button(preset.title, () => load(i))));

  /** @param {number} number */
  function mark(number) {
    [...$('presets').children].forEach((other, i) => other.setAttribute('aria-pressed', String(i === number)));
    about = start.presets[number]?.about ?? '';
  }

  /** @param {number} number @param {boolean} [asks] */
  function load(number, asks = true) {
    const { vector, nodes, levels } = start.presets[number];
    $('vector').value = vector.map(share => Number(share.toPrecision(4))).join(', ');
    for (const [size, value] of Object.entries({ nodes, levels })) {
      sizes[size].value = String(value);
      query(sizes[size].parentElement ?? root, 'output').textContent = String(value);
    }
    mark(number);
    if (asks) ask();
  }

  // ---- trees ----

  /** @param {() => boolean} stale */
  async function work(stale) {
    const numbers = Object.fromEntries(Object.entries(sizes).map(([size, slider]) => [size, Number(slider.value)]));
    const vector = $('vector').value.split(/[\s,;[\]()]+/).filter(Boolean).map(Number);
    const text = await askTrees({ vector, builder: name, ...numbers });
    if (!stale()) show(text);
  }

  /** @param {string} text */
  function show(text) {
    const data = /** @type {import('./types.js').Trees | import('./types.js').Rejected} */ (JSON.parse(text));
    if (data.error !== undefined) {
      $('status').textContent = data.error;
      return;
    }
    $('status').textContent = about;
    trees = data.trees;
    const most = Math.max(...trees.map(tree => tree.tokens));
    $('cards').replaceChildren(...trees.map(tree => card(tree, most)));
    open(trees.some(tree => tree.name === name) ? name : 'sequoia');
  }

  /** @param {LabTree} tree @param {number} most tokens of the best one */
  function card(tree, most) {
    const made = make('figure', '', 'sv-lab-card'), bar = make('i');
    bar.style.width = `${(100 * tree.tokens) / most}%`;
    made.dataset.name = tree.name;
    made.addEventListener('click', () => open(tree.name)); // the menu does the same by keyboard
    made.append(make('b', tree.title), treePicture(tree, { width: 200, height: 90 }), bar,
      make('span', `${tree.tokens.toFixed(2)} tokens per pass`), make('small', `${tree.nodes} nodes, ${tree.levels} levels, ${tree.passes} draft ${tree.passes === 1 ? 'pass' : 'passes'}`));
    return made;
  }

  /** @param {string} wanted */
  function open(wanted) {
    name = wanted;
    selected = 0;
    const tree = /** @type {LabTree} */ (trees.find(other => other.name === name));
    for (const other of $('cards').children) other.classList.toggle('own', other.dataset.name === name);
    $('builder').value = name;
    $('name').textContent = `${tree.title}: ${tree.settings}`;
    const picture = treePicture(tree, { row: Math.max(20, Math.min(34, 400 / placed(tree.parents).rows)), column: Math.max(56, Math.min(130, ($('tree').clientWidth - 80) / tree.levels)), labels: true });
    picture.addEventListener('click', event => {
      const node = /** @type {Element} */ (event.target).closest('[data-node]')?.getAttribute('data-node');
      if (node) select(Number(node));
    });
    $('tree').replaceChildren(picture);
    $('mask').replaceChildren(maskPicture(tree));
    select(0);
  }

  /** @param {number} node */
  function select(node) {
    const tree = /** @type {LabTree} */ (trees.find(other => other.name === name)), above = new Set();
    selected = node;
    for (let at = node; at >= 0; at = tree.parents[at]) above.add(at);
    for (const part of root.querySelectorAll('.sv-lab-one [data-node]')) part.classList.toggle('above', above.has(Number(part.getAttribute('data-node'))));
    $('node').textContent = nodeText(tree, node);
    const line = query(root, '.sv-lab-mask .row');
    line.setAttribute('y', String(node));
  }

  $('tree').addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const tree = trees.find(other => other.name === name);
    if (!tree || event.ctrlKey || event.metaKey || event.altKey) return;
    const order = placed(tree.parents).order, at = order.indexOf(selected);
    /** @type {Record<string, number>} */
    const next = { ArrowUp: order[Math.max(0, at - 1)], ArrowDown: order[Math.min(order.length - 1, at + 1)],
      ArrowLeft: Math.max(0, tree.parents[selected]), ArrowRight: Math.max(selected, tree.parents.indexOf(selected)) };
    if (!(event.key in next)) return;
    event.preventDefault();
    select(next[event.key]);
    query($('tree'), `[data-node="${selected}"]`).scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });

  load(0, false);
  show(start.first);
  root.setAttribute('aria-busy', 'false');
}

/** A row for each node, filled at itself and its ancestors. @param {LabTree} tree */
function maskPicture({ parents, title }) {
  const n = parents.length, svg = draw('svg', { viewBox: `0 0 ${n} ${n}`, role: 'img', 'aria-label': `attention mask of ${title}, ${n} rows` });
  let cells = '';
  parents.forEach((_, node) => { for (let above = node; above >= 0; above = parents[above]) cells += `M${above} ${node}h1v1h-1z`; });
  draw('rect', { class: 'paper', width: n, height: n }, svg);
  draw('rect', { class: 'row', width: n, height: 1 }, svg);
  draw('path', { d: cells }, svg);
  return svg;
}
