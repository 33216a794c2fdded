// The Tree lab: small trees side by side, one of them large, and its attention mask in several orders. A value is what
// app/labs/tree_lab.py sends: { forest: { trees, ... }, one: { name, orders, ... } }. Values become text nodes and
// numbers in attributes, never markup.

function specvizLab(element, ask) {
  const NS = 'http://www.w3.org/2000/svg';
  const find = name => element.querySelector(name);
  const make = (name, attributes, parent, text) => {
    const node = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  };
  const html = (name, className, parent, text) => {
    const node = document.createElement(name);
    node.className = className;
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  };
  const share = x => (x === 0 ? '0' : x >= 0.995 ? x.toFixed(3) : x >= 0.0995 ? x.toFixed(2) : x >= 0.001 ? x.toFixed(3) : x.toExponential(0));
  let drawn = '', data = null, large = null, selected = null;

  const depths = tree => {
    const depth = [0];
    for (let i = 1; i < tree.parents.length; i++) depth.push(depth[tree.parents[i]] + 1);
    return depth;
  };
  const curve = (x0, y0, x1, y1) => (y0 === y1 ? `M${x0} ${y0}H${x1}` : `M${x0} ${y0}C${(x0 + x1) / 2} ${y0} ${(x0 + x1) / 2} ${y1} ${x1} ${y1}`);
  const dot = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

  // ---- side by side ----

  function thumbnail(tree, button) {
    const width = 260, height = 132, margin = 12, depth = depths(tree);
    const levels = Math.max(1, ...depth), rows = Math.max(0, ...tree.rows);
    const dx = Math.min(30, (width - 2 * margin) / levels), dy = rows ? Math.min(15, (height - 2 * margin) / rows) : 0;
    const left = (width - dx * levels) / 2, top = (height - dy * rows) / 2;
    const size = Math.min(4.5, 1 + Math.min(dx, dy || 15) * 0.22);
    const x = i => +(left + dx * depth[i]).toFixed(1), y = i => +(top + dy * tree.rows[i]).toFixed(1);
    const svg = make('svg', { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' }, button);
    const inner = new Set(tree.parents);
    let edges = '', filled = '', rings = '';
    tree.parents.forEach((parent, i) => {
      if (parent >= 0) edges += curve(x(parent), y(parent), x(i), y(i));
      const r = +(size * (0.55 + 0.45 * Math.sqrt(tree.chance[i]))).toFixed(2);
      if (inner.has(i)) filled += dot(x(i), y(i), r); else rings += dot(x(i), y(i), r);
    });
    make('path', { class: 'edges', d: edges }, svg);
    make('path', { class: 'rings', d: rings }, svg);
    make('path', { class: 'filled', d: filled }, svg);
    make('rect', { class: 'root', x: x(0) - 4, y: y(0) - 4, width: 8, height: 8 }, svg);
  }

  function card(tree, most) {
    const button = html('button', 'sv-lab-card');
    button.type = 'button';
    button.dataset.name = tree.name;
    html('span', 'sv-lab-title', button, tree.title);
    if (tree.kind === 'none') {
      button.disabled = true;
      html('span', 'sv-lab-none', button, tree.note);
      return button;
    }
    thumbnail(tree, button);
    const tokens = html('span', 'sv-lab-tokens', button);
    html('b', '', tokens, tree.tokens.toFixed(2));
    tokens.append(tree.error ? ` ± ${tree.error.toFixed(2)} tokens a pass` : ' tokens a pass');
    const bar = html('span', 'sv-lab-bar', button);
    html('i', '', bar).style.width = `${(100 * tree.tokens) / most}%`;
    html('span', 'sv-lab-stats', button, tree.stats);
    html('span', 'sv-lab-settings', button, tree.settings);
    if (tree.kind === 'synthetic') html('span', 'sv-lab-badge', button, 'synthetic rows');
    button.setAttribute('aria-label', `${tree.title}: ${tree.tokens.toFixed(2)} tokens a pass, ${tree.stats}. Show it large.`);
    button.addEventListener('click', () => ask({ tree: tree.name }));
    return button;
  }

  function download(label, name, text) {
    return specvizDownload({ label, name, text }, 'Trees side by side');
  }

  function side(forest) {
    find('.sv-source').textContent = forest.source.label;
    find('.sv-source').dataset.kind = forest.source.kind;
    find('.sv-lab-where').textContent = forest.where;
    find('.sv-lab-where').hidden = !forest.where;
    find('.sv-lab-read').textContent = forest.read;
    find('.sv-lab-synthetic').hidden = !forest.synthetic;
    find('.sv-lab-synthetic span:last-child').textContent = forest.synthetic;
    const most = Math.max(1, ...forest.trees.map(tree => tree.tokens || 0));
    find('.sv-lab-cards').replaceChildren(...forest.trees.map(tree => card(tree, most)));
    find('.sv-files').replaceChildren(
      download('JSON', 'trees.json', JSON.stringify(forest.trees)), download('CSV', 'trees.csv', forest.csv));
  }

  // ---- one tree, large ----

  const svg = find('.sv-lab-tree'), canvas = make('g', {}, svg);
  const MARGIN = { left: 26, right: 64, top: 26, bottom: 40 };
  let view = null, spots = [];

  // Zooming spreads the nodes but never swells them, so a crowded tree opens up; `view` is the spread and the shift.
  function one(tree) {
    const depth = depths(tree), levels = Math.max(1, ...depth), rows = Math.max(0, ...tree.rows), inner = new Set(tree.parents);
    const across = svg.clientWidth - MARGIN.left - MARGIN.right, down = svg.clientHeight - MARGIN.top - MARGIN.bottom;
    const wide = Math.min(120, across / levels), high = rows ? Math.min(26, down / rows) : 26;
    if (!view) view = { k: 1, x: MARGIN.left, y: MARGIN.top + Math.max(0, (down - rows * high) / 2) };
    const dx = wide * view.k, dy = high * view.k, labels = dy >= 15 && dx >= 44, most = Math.max(1.3, Math.min(dx, dy) * 0.32);
    spots = tree.parents.map((_, i) => ({ x: depth[i] * dx, y: tree.rows[i] * dy }));
    const edges = make('g', {}), nodes = make('g', {});
    tree.parents.forEach((parent, i) => {
      const { x, y } = spots[i], chance = tree.chance[i];
      if (parent >= 0) {
        make('path', { class: 'edge', 'data-node': i, d: curve(spots[parent].x, spots[parent].y, x, y), 'stroke-width': (0.6 + Math.min(5, most) * chance).toFixed(2) }, edges);
      }
      const kind = parent < 0 ? 'root' : inner.has(i) ? 'filled' : 'ring';
      const g = make('g', { class: `spot ${kind}`, 'data-node': i, transform: `translate(${x} ${y})` }, nodes);
      make('rect', { class: 'hit', x: -Math.max(4, dx / 3), y: -dy / 2, width: Math.max(8, dx * 0.9), height: Math.max(3, dy) }, g);
      if (parent < 0) make('rect', { class: 'mark', x: -6, y: -6, width: 12, height: 12 }, g);
      else make('circle', { class: 'mark', r: Math.min(most, 3 + 4.5 * Math.sqrt(chance)).toFixed(2) }, g);
      if (labels && parent >= 0) make('text', { x: 10, y: -5 }, g, share(chance));
    });
    canvas.replaceChildren(edges, nodes);
    paint();
    place();
    svg.dataset.nodes = tree.parents.length;
  }

  function paint() { // the selected node, and all that it attends to
    const above = new Set();
    if (selected !== null) for (let node = selected; node >= 0; node = large.parents[node]) above.add(node);
    for (const part of canvas.querySelectorAll('[data-node]')) {
      part.classList.toggle('above', above.has(+part.dataset.node));
      part.classList.toggle('selected', +part.dataset.node === selected);
    }
  }

  function place() {
    canvas.setAttribute('transform', `translate(${view.x} ${view.y})`);
  }

  function fit() {
    view = null;
    one(large);
  }

  function zoom(factor, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
    const k = Math.min(30, Math.max(0.5, view.k * factor)), f = k / view.k;
    view = { k, x: x - (x - view.x) * f, y: y - (y - view.y) * f };
    one(large);
  }

  function told(node) {
    const tree = large, parent = tree.parents[node];
    if (parent < 0) return `The root, the last token of the text. Below it: ${tree.parents.length - 1} drafted tokens.`;
    const rank = tree.parents.slice(0, node).filter(other => other === parent).length + 1;
    const below = tree.parents.reduce((set, above, i) => (set.has(above) ? set.add(i) : set), new Set([node])).size - 1;
    const above = parent ? `node ${parent}` : 'the root';
    return `Node ${node}: child ${rank} of ${above}, level ${depths(tree)[node]}. Accepted with chance ${share(tree.chance[node])}, ` +
      `${share(tree.chance[parent] ? tree.chance[node] / tree.chance[parent] : 0)} once ${above} is. Nodes below it: ${below}.`;
  }

  function select(node, look) {
    selected = node;
    paint();
    find('.sv-lab-node').textContent = node === null ? data.forest.hint : told(node);
    for (const figure of element.querySelectorAll('.sv-lab-masks svg')) {
      const at = node === null ? -1 : figure.order.indexOf(node), row = figure.querySelector('.row');
      row.setAttribute('y', at);
      row.setAttribute('visibility', node === null ? 'hidden' : 'visible');
    }
    if (look && node !== null) {
      const x = view.x + spots[node].x, y = view.y + spots[node].y, edge = 40;
      view.x += Math.max(0, edge - x) - Math.max(0, x + edge - svg.clientWidth);
      view.y += Math.max(0, edge - y) - Math.max(0, y + edge - svg.clientHeight);
      place();
    }
  }

  function walk(key) { // across to parent or first child; up and down among the nodes of a level
    if (selected === null) return 0;
    const { parents, rows } = large, depth = depths(large);
    if (key === 'ArrowLeft') return Math.max(0, parents[selected]);
    if (key === 'ArrowRight') return parents.includes(selected) ? parents.indexOf(selected) : selected;
    const level = parents.map((_, i) => i).filter(i => depth[i] === depth[selected]).sort((i, j) => rows[i] - rows[j]);
    const at = level.indexOf(selected) + (key === 'ArrowUp' ? -1 : 1);
    return level[Math.min(level.length - 1, Math.max(0, at))];
  }

  svg.addEventListener('keydown', event => {
    if (!large || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith('Arrow')) select(walk(event.key), true);
    else if (event.key === '+' || event.key === '-') zoom(event.key === '+' ? 1.3 : 1 / 1.3);
    else if (event.key === '0') fit(); else if (event.key === 'Escape') select(null); else return;
    event.preventDefault();
  });
  svg.addEventListener('wheel', event => {
    if (!large || !(event.ctrlKey || document.activeElement === svg)) return;
    event.preventDefault();
    const frame = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.004 : 0.0015)), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
  let grip = null;
  svg.addEventListener('pointerdown', event => {
    if (event.button === 0 && view) grip = { x: event.clientX, y: event.clientY, view: { ...view }, moved: false };
  });
  svg.addEventListener('pointermove', event => {
    if (!grip) return;
    const x = event.clientX - grip.x, y = event.clientY - grip.y;
    if (!grip.moved && Math.hypot(x, y) < 5) return;
    if (!grip.moved) svg.setPointerCapture(event.pointerId);
    grip.moved = true;
    view = { ...grip.view, x: grip.view.x + x, y: grip.view.y + y };
    place();
  });
  svg.addEventListener('pointercancel', () => { grip = null; });
  svg.addEventListener('pointerup', event => {
    const spot = event.target.closest && event.target.closest('.spot');
    if (grip && !grip.moved && large) select(spot ? +spot.dataset.node : null);
    grip = null;
  });
  for (const button of element.querySelectorAll('.sv-lab-tools button')) {
    button.addEventListener('click', () => {
      if (button.dataset.do === 'fit') fit(); else zoom(button.dataset.do === 'in' ? 1.3 : 1 / 1.3);
    });
  }

  // ---- its mask ----

  function mask(tree, picture, block) {
    const figure = html('figure', 'sv-lab-mask'), n = tree.parents.length, pairs = new Map();
    const place = new Array(n);
    picture.order.forEach((node, at) => { place[node] = at; });
    const box = make('svg', { viewBox: `${-n * 0.004} ${-n * 0.004} ${n * 1.008} ${n * 1.008}`, role: 'img' });
    box.order = picture.order;
    make('title', {}, box, `Attention mask, ${picture.name} order: ${picture.said}`);
    make('rect', { class: 'paper', x: 0, y: 0, width: n, height: n }, box);
    for (const [row, column, count] of picture.blocks) {
      pairs.set(`${row} ${column}`, count);
      const x = column * block, y = row * block;
      make('rect', { class: 'block', x, y, width: Math.min(block, n - x), height: Math.min(block, n - y) }, box);
    }
    let cells = '';
    for (let node = 0; node < n; node++) {
      for (let above = node; above >= 0; above = tree.parents[above]) cells += `M${place[above]} ${place[node]}h1v1h-1z`;
    }
    make('path', { class: 'cells', d: cells }, box);
    make('rect', { class: 'row', x: 0, y: 0, width: n, height: 1, visibility: 'hidden' }, box);
    box.addEventListener('pointermove', event => {
      const frame = box.getBoundingClientRect(), at = (from, length, where) => Math.floor((((where - from) / length) * 1.008 - 0.004) * n);
      const column = at(frame.left, frame.width, event.clientX), row = at(frame.top, frame.height, event.clientY);
      if (row < 0 || column < 0 || row >= n || column >= n) return;
      const r = Math.floor(row / block), c = Math.floor(column / block), count = pairs.get(`${r} ${c}`) || 0;
      find('.sv-lab-pair').textContent = `${picture.name}: row ${row} is node ${picture.order[row]}, column ${column} is node ` +
        `${picture.order[column]}; their block holds ${count} pair${count === 1 ? '' : 's'}${count ? '' : ' and is skipped'}.`;
    });
    figure.append(box);
    const words = html('figcaption', '', figure);
    html('b', '', words, picture.name);
    words.append(` ${picture.said}`);
    return figure;
  }

  find('.sv-lab-block').addEventListener('change', event => ask({ block: +event.target.value }));
  find('.sv-lab-larger').addEventListener('click', event => {
    const on = find('.sv-lab-masks').classList.toggle('large');
    event.target.setAttribute('aria-pressed', on);
    event.target.textContent = on ? 'Side by side' : 'Larger';
  });
  new ResizeObserver(() => {
    if (!svg.clientWidth || !large) return;
    fit();
    select(selected, true);
  }).observe(svg);

  return function show(value) {
    if (!value) return;
    const before = data && JSON.stringify([data.one.name, large]);
    data = JSON.parse(value);
    const forest = JSON.stringify(data.forest);
    if (forest !== drawn) side(data.forest); // the cards keep their focus while only what is shown below them changes
    drawn = forest;
    for (const button of element.querySelectorAll('.sv-lab-card')) button.setAttribute('aria-pressed', button.dataset.name === data.one.name);
    large = data.forest.trees.find(tree => tree.name === data.one.name);
    find('.sv-lab-name').textContent = large.title;
    find('.sv-lab-about').textContent = [`${large.stats}; ${large.settings || 'drawn at random'}.`, large.note].join(' ');
    const blocks = find('.sv-lab-block');
    blocks.replaceChildren(...data.one.choices.map(size => new Option(`${size} × ${size}`, size, false, size === data.one.block)));
    find('.sv-lab-bound').textContent = data.one.bound;
    find('.sv-lab-masks').replaceChildren(...data.one.orders.map(picture => mask(large, picture, data.one.block)));
    if (before !== JSON.stringify([data.one.name, large])) { view = null; selected = null; }
    one(large);
    select(selected);
    element.querySelector('.sv-lab').removeAttribute('aria-busy');
  };
}
