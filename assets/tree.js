// Draws the tree of one step as SVG, left to right: the accepted path is the straight line on top, what was never
// reached is folded. Nothing here knows gradio. Token text comes from models: it only ever becomes text nodes.
//
// A step is what specviz/payload.py sends: parents, texts, q, outcome (one letter a node: r root, a accepted, x rejected,
// u never reached, p passed) and last ("bonus", "correction" or null: the token the target adds, not a node).

const SVG = 'http://www.w3.org/2000/svg';
const SHAPES = {
  r: 'M0 -6A6 6 0 1 1 0 6A6 6 0 1 1 0 -6Z',
  a: 'M-6 -6H6V6H-6Z',
  x: 'M-5 -5L5 5M5 -5L-5 5',
  u: 'M0 -4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0 -4.5Z',
  p: 'M0 -7L7 5H-7Z',
  last: 'M0 -8L8 0L0 8L-8 0Z',
};
const SIBLINGS = 4; // never-reached siblings beyond this many share one "+N"

// A token as a person can see it: spaces, line breaks and control characters get a sign.
function specvizVisible(text) {
  return text.replace(/\r?\n/g, '↵').replace(/\t/g, '⇥').replace(/ /g, '·')
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
      c => '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0')) || '∅';
}

function specvizChildren(step) {
  const children = step.parents.map(() => []);
  for (let i = 1; i < step.parents.length; i++) children[step.parents[i]].push(i);
  return children;
}

// Where everything goes: marks in the order in which arrow keys walk them, x in columns, y in rows. A mark is a node,
// the last token (key "last") or a "+N" that stands for folded siblings.
function specvizLayout(step, isOpen) {
  const children = specvizChildren(step), n = step.parents.length, size = new Array(n).fill(1), marks = [];
  for (let i = n - 1; i > 0; i--) size[step.parents[i]] += size[i];
  const reached = i => 'rap'.includes(step.outcome[i]);
  const end = Math.max(0, step.outcome.lastIndexOf('a'));
  let rows = 0;
  function place(node, column, from) {
    const mark = { key: String(node), node, from, x: column, y: rows, letter: step.outcome[node], hidden: 0 };
    marks.push(mark);
    const drawn = node === end && step.last
      ? [() => { marks.push({ key: 'last', leaf: true, from: mark, x: column + 1, y: rows++, letter: 'last' }); }] : [];
    const first = i => (step.outcome[i] === 'a' ? 0 : 1);
    const below = children[node].slice().sort((i, j) => first(i) - first(j) || i - j);
    if (below.length && !reached(node) && !isOpen(mark.key)) {
      mark.hidden = size[node] - 1;
    } else {
      const spare = below.filter(i => step.outcome[i] === 'u').slice(SIBLINGS - 1);
      const fold = spare.length > 1 && !isOpen(`${node}+`) ? new Set(spare) : new Set();
      for (const i of below) if (!fold.has(i)) drawn.push(() => place(i, column + 1, mark));
      if (fold.size) {
        const hidden = spare.reduce((sum, i) => sum + size[i], 0);
        drawn.push(() => marks.push({ key: `${node}+`, leaf: true, from: mark, x: column + 1, y: rows++, letter: 'more', hidden }));
      }
    }
    if (drawn.length) drawn.forEach(draw => draw()); else rows++;
    mark.leaf = !drawn.length; // nothing follows in its row, so its label may be long
  }
  place(0, 0, null);
  return { marks, rows, columns: marks.reduce((most, mark) => Math.max(most, mark.x), 0) + 1 };
}

// A view of trees inside an <svg>. `on` has hover(key or null) and pick(key); zoom and pan last until reset().
function specvizTree(svg, on) {
  const make = (name, attributes, parent, text) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  };
  const canvas = make('g', {}, svg);
  let step = null, layout = null, all = false, open = new Set(), selected = null, columns = 0;
  let grown = null, kept = null; // while its growth plays: what is there already, and the view before
  let view = null, dx = 150, dy = 27, em = 8.4, size = 14, unit = 1, rows = 0;

  function measure() {
    const phone = svg.clientWidth < 560;
    unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // large type is a large root font
    size = (phone ? 13 : 14.5) * unit;
    em = size * 0.602;
    dy = Math.min(size * 2.5, Math.max(size * 1.8, (svg.clientHeight - 80) / Math.max(1, rows)));
    dx = Math.min(190 * unit, Math.max((phone ? 100 : unit > 1 ? 92 : 112) * unit, (svg.clientWidth - 36 * unit) / Math.max(1, columns)));
  }

  function draw() {
    if (!step) return;
    const plain = grown ? { ...step, outcome: 'r'.padEnd(step.parents.length, 'u'), last: null } : step;
    layout = specvizLayout(plain, key => grown || all || open.has(key));
    if (grown) layout.marks = layout.marks.filter(mark => mark.node <= grown.newest);
    columns = Math.max(columns, layout.columns); // these only grow during a run, or the tree would jump
    rows = Math.max(rows, layout.rows);
    measure();
    const edges = make('g', {}), nodes = make('g', { 'font-size': size });
    const room = Math.floor((dx - 52 * unit) / em);
    layout.marks.forEach((mark, at) => {
      const cx = mark.x * dx, cy = mark.y * dy;
      const full = mark.key === 'last' ? specvizVisible(step.pieces[step.pieces.length - 1])
        : mark.letter === 'more' ? '' : specvizVisible(step.texts[mark.node]);
      const wide = mark.leaf ? 24 : room, letters = [...full];
      const label = letters.length > wide ? letters.slice(0, wide - 1).join('') + '…' : full;
      mark.end = cx + 13 * unit + [...label].length * em + 4;
      if (mark.from) edge(edges, mark, cx, cy);
      const kind = mark.key === 'last' ? step.last : mark.letter;
      const g = make('g', { class: `node ${kind}`, 'data-at': at, transform: `translate(${cx} ${cy})` }, nodes);
      make('rect', { class: 'hit', x: -13 * unit, y: -dy / 2, width: mark.leaf ? mark.end - cx + (mark.hidden ? 60 : 14) : dx - 14, height: dy, rx: 5 }, g);
      if (SHAPES[mark.letter]) make('path', { class: 'shape', d: SHAPES[mark.letter], transform: `scale(${unit})` }, g);
      if (label) make('text', { x: 13 * unit, dy: '.34em' }, g, label);
      if (grown) {
        g.classList.toggle('newest', mark.node === grown.newest);
        if (grown.tags.has(mark.node)) make('text', { class: 'tag', x: 9 * unit, y: -size * 0.62, 'font-size': size * 0.8 }, g, grown.tags.get(mark.node));
      }
      if (mark.hidden) fold(g, mark, mark.letter === 'more' ? -10 : mark.end - cx);
    });
    canvas.replaceChildren(edges, nodes);
    if (!view) {
      const fits = (svg.clientHeight - 50) / (dy * (layout.rows + 0.6));
      view = { x: 24 * unit, y: dy + 2, k: grown ? Math.min(1, Math.max(0.6, fits)) : 1 };
    }
    place();
    mark();
    svg.dataset.step = step.index;
    svg.dataset.nodes = step.parents.length;
    svg.dataset.grown = grown ? Math.min(grown.newest, step.parents.length - 1) : '';
  }

  function edge(parent, mark, cx, cy) {
    const x0 = mark.from.end, y0 = mark.from.y * dy, x1 = cx - (mark.letter === 'more' ? 14 : 10) * unit, m = (x0 + x1) / 2;
    const q = mark.node === undefined ? null : step.q[mark.node];
    make('path', {
      class: `edge ${mark.key === 'last' ? step.last : mark.letter}`,
      d: y0 === cy ? `M${x0} ${y0}H${x1}` : `M${x0} ${y0}C${m} ${y0} ${m} ${cy} ${x1} ${cy}`,
      'stroke-width': ((mark.letter === 'a' ? 2.5 : 1.2) + 5 * (q === null ? 0.1 : q)).toFixed(2),
    }, parent);
  }

  function fold(g, mark, x) {
    const text = `+${mark.hidden}`, width = text.length * em * 0.9 + 10;
    const pill = make('g', { class: 'pill', 'data-open': mark.key, transform: `translate(${x} 0)` }, g);
    make('rect', { x: 0, y: -size * 0.68, width, height: size * 1.36, rx: size * 0.68 }, pill);
    make('text', { x: width / 2, dy: '.34em', 'text-anchor': 'middle', 'font-size': size * 0.88 }, pill, text);
  }

  function mark() {
    for (const g of canvas.querySelectorAll('.node')) {
      g.classList.toggle('selected', layout.marks[g.dataset.at].key === selected);
    }
  }

  function place() {
    canvas.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.k})`);
  }

  function zoom(factor, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
    const k = Math.min(4, Math.max(0.15, view.k * factor)), f = k / view.k;
    view = { k, x: x - (x - view.x) * f, y: y - (y - view.y) * f };
    place();
  }

  function reveal(target) { // pan just enough to see a mark
    const x = view.x + target.x * dx * view.k, y = view.y + target.y * dy * view.k, edge = 30;
    view.x += Math.max(0, edge - x) - Math.max(0, x + dx * view.k * 0.8 - svg.clientWidth);
    view.y += Math.max(0, edge - y) - Math.max(0, y + edge - svg.clientHeight);
    place();
  }

  const keyAt = event => {
    const g = event.target.closest && event.target.closest('.node');
    return g ? layout.marks[g.dataset.at].key : null;
  };
  const isMore = key => key !== null && key.endsWith('+');

  svg.addEventListener('wheel', event => {
    if (!step || !(event.ctrlKey || document.activeElement === svg)) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.004 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  let grip = null;
  svg.addEventListener('pointerdown', event => {
    if (event.button === 0 && view) grip = { x: event.clientX, y: event.clientY, view: { ...view }, moved: false };
  });
  svg.addEventListener('pointermove', event => {
    if (grip) {
      const x = event.clientX - grip.x, y = event.clientY - grip.y;
      if (!grip.moved && Math.hypot(x, y) < 5) return;
      if (!grip.moved) svg.setPointerCapture(event.pointerId);
      grip.moved = true;
      view = { ...grip.view, x: grip.view.x + x, y: grip.view.y + y };
      place();
    } else if (step) {
      const key = keyAt(event);
      on.hover(isMore(key) ? null : key);
    }
  });
  svg.addEventListener('pointerleave', () => { if (!grip) on.hover(null); });
  svg.addEventListener('pointercancel', () => { grip = null; });
  svg.addEventListener('pointerup', event => {
    const dragged = grip && grip.moved;
    grip = null;
    if (dragged || !step) return;
    const pill = event.target.closest && event.target.closest('.pill'), key = keyAt(event);
    if (pill || isMore(key)) unfold(pill ? pill.dataset.open : key);
    else if (key !== null) on.pick(key);
  });
  new ResizeObserver(() => { if (svg.clientWidth) draw(); }).observe(svg);
  addEventListener('resize', () => { if (svg.clientWidth) draw(); }); // large type changes no box of its own accord

  function unfold(key) {
    open.add(key);
    draw();
  }

  return {
    show(next, growing = null) { // the fold of one step says nothing about the next
      if (next !== step) open = new Set();
      if (growing && !grown) {
        kept = view;
        view = null; // small enough for all rows
      } else if (!growing && grown) view = kept;
      step = next;
      grown = growing;
      draw();
      const newest = grown && layout.marks.find(item => item.node === grown.newest);
      if (newest) reveal(newest);
    },
    clear() { step = layout = null; columns = rows = 0; view = null; all = false; canvas.replaceChildren(); },
    select(key, look = false) {
      selected = key;
      if (!layout) return;
      mark();
      const target = layout.marks.find(item => item.key === key);
      if (look && target) reveal(target);
    },
    toggle() { all = !all; open = new Set(); draw(); return all; },
    reset() { view = null; draw(); },
    zoom,
    // The key of the mark next to the selected one: "up", "down", "parent" or "child".
    walk(way) {
      if (!layout) return null;
      const marks = layout.marks, at = marks.findIndex(item => item.key === selected);
      if (at < 0) return marks[0].key;
      const here = marks[at];
      if (way === 'parent') return here.from ? here.from.key : here.key;
      if (way === 'child') return (marks.find(item => item.from === here) || here).key;
      return marks[Math.min(marks.length - 1, Math.max(0, at + (way === 'up' ? -1 : 1)))].key;
    },
    isMore,
    unfold,
  };
}
