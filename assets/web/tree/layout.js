// Where the tree of one step goes, left to right: the accepted path is the straight line on top. What was not visited
// is folded unless somebody opened it or there is room for it.

/** @typedef {import('../base/types.js').Step} Step */

/**
 * Something that is drawn: a node, the last token (key "last") or a "+N" that stands for folded siblings.
 * @typedef {object} Mark
 * @property {string} key
 * @property {number} [node]
 * @property {Mark | null} from
 * @property {number} x the column
 * @property {number} y the row
 * @property {string} letter the outcome of the node, "last" or "more"
 * @property {number} hidden how many nodes are folded here
 * @property {boolean} leaf nothing follows in its row, so its label may be long
 */

/**
 * The marks in the order in which arrow keys walk them, and the room they take.
 * @typedef {{ marks: Mark[], rows: number, columns: number, opened?: Set<string> }} Layout `opened` are the keys of the
 *   folds that were opened because there was room
 */

const SIBLINGS = 4; // never-reached siblings beyond this many share one "+N"

/** @param {{ parents: number[] }} step */
export function childrenOf(step) {
  const children = step.parents.map(() => /** @type {number[]} */ ([]));
  for (let i = 1; i < step.parents.length; i++) children[step.parents[i]].push(i);
  return children;
}

/**
 * @param {Step} step
 * @param {(key: string) => boolean} isOpen
 * @returns {Layout}
 */
export function treeLayout(step, isOpen) {
  const children = childrenOf(step), n = step.parents.length, size = new Array(n).fill(1);
  const marks = /** @type {Mark[]} */ ([]);
  for (let i = n - 1; i > 0; i--) size[step.parents[i]] += size[i];
  const reached = (/** @type {number} */ i) => 'rap'.includes(step.outcome[i]);
  const end = Math.max(0, step.outcome.lastIndexOf('a'));
  let rows = 0;

  /** @param {number} node @param {number} column @param {Mark | null} from */
  function place(node, column, from) {
    /** @type {Mark} */
    const mark = { key: String(node), node, from, x: column, y: rows, letter: step.outcome[node], hidden: 0, leaf: false };
    marks.push(mark);
    /** @type {(key: string, letter: string, hidden: number) => () => void} */
    const beside = (key, letter, hidden) => () => {
      marks.push({ key, leaf: true, from: mark, x: column + 1, y: rows++, letter, hidden });
    };
    const drawn = node === end && step.last ? [beside('last', 'last', 0)] : [];
    const first = (/** @type {number} */ i) => (step.outcome[i] === 'a' ? 0 : 1);
    const below = children[node].slice().sort((i, j) => first(i) - first(j) || i - j);
    if (below.length && !reached(node) && !isOpen(mark.key)) {
      mark.hidden = size[node] - 1;
    } else {
      const spare = below.filter(i => step.outcome[i] === 'u').slice(SIBLINGS - 1);
      const fold = spare.length > 1 && !isOpen(`${node}+`) ? new Set(spare) : new Set();
      for (const i of below) if (!fold.has(i)) drawn.push(() => place(i, column + 1, mark));
      if (fold.size) drawn.push(beside(`${node}+`, 'more', spare.reduce((sum, i) => sum + size[i], 0)));
    }
    if (drawn.length) drawn.forEach(draw => draw()); else rows++;
    mark.leaf = !drawn.length;
  }

  place(0, 0, null);
  return { marks, rows, columns: marks.reduce((most, mark) => Math.max(most, mark.x), 0) + 1 };
}

/**
 * The same with folds opened, the smallest first, as long as everything still fits.
 * @param {Step} step
 * @param {(key: string) => boolean} isOpen what somebody opened
 * @param {{ rows: number, columns: number }} room how many there is room for; a tree that needs more keeps its folds
 * @returns {Layout}
 */
export function roomyLayout(step, isOpen, room) {
  const open = new Set(), refused = new Set();
  let layout = treeLayout(step, isOpen);
  const columns = Math.max(room.columns, layout.columns);
  for (;;) {
    const folds = layout.marks.filter(mark => mark.hidden && !refused.has(mark.key));
    if (!folds.length) return { ...layout, opened: open };
    const next = folds.reduce((least, mark) => (mark.hidden < least.hidden ? mark : least));
    const larger = treeLayout(step, key => isOpen(key) || open.has(key) || key === next.key);
    if (larger.rows <= room.rows && larger.columns <= columns) {
      open.add(next.key);
      layout = larger;
    } else refused.add(next.key);
  }
}
