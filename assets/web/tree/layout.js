// Where the tree of one step goes, left to right: siblings from top to bottom in the order in which
// they were tried, and the accepted path a straight line between them. What was not visited is
// folded unless somebody opened it or there is room for it.

/**
 * Something that is drawn: a node, the last token (key "last") or a "+N" that stands for folded
 * siblings.
 * @typedef {object} Mark
 * @property {string} key
 * @property {number} [node]
 * @property {Mark | null} from
 * @property {number} x the column
 * @property {number} y the row
 * @property {string} outcome of the node, what the last token is, or "more"
 * @property {string} [text] its token
 * @property {number | null} [q] the draft's probability of it
 * @property {string | null} [drafter] who drafted it, where that is known
 * @property {number} hidden how many nodes are folded here
 * @property {boolean} leaf nothing follows in its row, so its label may be long
 * @property {boolean} [bare] without its name
 * @property {boolean} [stair] its edge goes down and then right
 * @property {number} order as which of its siblings it is tried, from 1; 0 where it has none or
 *   none was tried
 */

/**
 * The marks in the order in which arrow keys walk them, and the room they take.
 * @typedef {{ marks: Mark[], rows: number, columns: number, spine: number, opened?: Set<string>,
 *   staggered?: number }} Layout `spine` is the row of the accepted path; `opened` are the keys of
 *   the folds that were opened because there was room; in the row `staggered` is room for two lines
 */

/**
 * What the key of a mark stands for: a node, the fold of a node's children, or the target's token,
 * which is no node.
 * @param {string} key
 */
export function parseKey(key) {
  return { node: key === 'last' ? null : parseInt(key, 10), isFold: key.endsWith('+') };
}

const SIBLINGS = 4; // of more siblings that were not visited the last share one "+N"

/** Whether the rule compared such a node. @param {string} outcome */
export const isTried = outcome => ['accepted', 'rejected', 'passed'].includes(outcome);

/** @param {{ parents: number[] }} step */
export function childrenOf(step) {
  const children = step.parents.map(() => /** @type {number[]} */ ([]));
  for (let i = 1; i < step.parents.length; i++) children[step.parents[i]].push(i);
  return children;
}

/**
 * @param {Step} step
 * @param {(key: string) => boolean} isOpen
 * @param {number} [siblings] that were not visited and may have rows of their own
 * @param {boolean} [isLow] whether the accepted path is the last row, below what was not visited
 * @returns {Layout}
 */
export function treeLayout(step, isOpen, siblings = SIBLINGS, isLow = false) {
  const children = childrenOf(step),
    n = step.parents.length,
    size = new Array(n).fill(1);
  for (let i = n - 1; i > 0; i--) size[step.parents[i]] += size[i];
  /** @param {number} i */
  const isReached = i =>
    ['root', 'accepted', 'passed'].includes(step.outcome[i]);
  /** @param {number} i */
  const wasTried = i => isTried(step.outcome[i]);
  const end = Math.max(0, step.outcome.lastIndexOf('accepted'));

  /** @type {Mark[]} */
  const marks = [];
  let rows = 0; // so far: each mark that nothing follows takes the next one

  /** @param {Partial<Mark>} one @returns {Mark} */
  function leafOf(one) {
    const mark = /** @type {Mark} */ ({ leaf: true, order: 0, y: rows++, ...one });
    marks.push(mark);
    return mark;
  }

  /**
   * @param {number} node
   * @param {number} column
   * @param {Mark | null} from
   * @param {number} order
   */
  function place(node, column, from, order) {
    /** @type {Mark} */
    const mark = {
      key: String(node),
      node,
      from,
      x: column,
      y: 0,
      outcome: step.outcome[node],
      text: step.texts[node],
      q: step.q[node],
      drafter: step.drafter?.[node],
      hidden: 0,
      leaf: false,
      order,
    };
    marks.push(mark);
    const drafted = children[node].filter(i => step.outcome[i] !== 'probe');
    const below = children[node];
    if (isLow) below.sort((a, b) => Number(wasTried(a)) - Number(wasTried(b)));
    const beside = { from: mark, x: column + 1 };
    const spare = below.filter(i => step.outcome[i] === 'unreached').slice(siblings - 1);
    const key = `${node}+`;
    const fold = new Set(spare.length > 1 && !isOpen(key) ? spare : []);
    const isOrdered = drafted.length > 1 && drafted.some(wasTried);
    const isClosed = below.length > 0 && !isReached(node) && !isOpen(mark.key);
    const shown = isClosed ? [] : below.filter(i => !fold.has(i));
    if (isClosed) mark.hidden = size[node] - 1;
    const parts = shown.map(i => {
      return () => place(i, column + 1, mark, isOrdered ? drafted.indexOf(i) + 1 : 0);
    });
    let main = shown.findIndex(i => step.outcome[i] === 'accepted');
    if (node === end && step.last) {
      main = shown.findLastIndex(wasTried) + 1; // it comes after all that were tried
      const own = { key: 'last', outcome: step.last, text: step.pieces.at(-1), hidden: 0 };
      parts.splice(main, 0, () => leafOf({ ...beside, ...own }));
    }
    const hidden = spare.reduce((sum, i) => sum + size[i], 0);
    if (fold.size && !isClosed)
      parts.push(() => leafOf({ ...beside, key, outcome: 'more', hidden }));
    const placed = parts.map(part => part());
    mark.leaf = !placed.length;
    mark.y = mark.leaf ? rows++ : placed[Math.max(0, main)].y;
    return mark;
  }

  const { y: spine } = place(0, 0, null, 0);
  return { marks, rows, columns: Math.max(...marks.map(mark => mark.x)) + 1, spine };
}

/**
 * The same with fewer siblings where that takes too many rows, or with folds opened, the smallest
 * first, as long as everything still fits.
 * @param {Step} step
 * @param {(key: string) => boolean} isOpen what somebody opened
 * @param {{ rows: number, columns: number }} room how many there is room for; a tree that needs
 *   more keeps its folds
 * @returns {Layout}
 */
export function roomyLayout(step, isOpen, room) {
  const open = new Set(),
    tooLarge = new Set();
  let siblings = SIBLINGS;
  // Before somebody opened a fold, which must close no other.
  /** @param {number} few */
  const rowsWith = few => treeLayout(step, () => false, few).rows;
  while (siblings > 1 && rowsWith(siblings) > room.rows) siblings--;
  let layout = treeLayout(step, isOpen, siblings);
  const columns = Math.max(room.columns, layout.columns);
  for (;;) {
    const folds = layout.marks.filter(mark => mark.hidden && !tooLarge.has(mark.key));
    if (!folds.length) return { ...layout, opened: open };
    const next = folds.reduce((smallest, mark) =>
      mark.hidden < smallest.hidden ? mark : smallest,
    );
    /** @param {string} key */
    const isOpenNow = key =>
      isOpen(key) || open.has(key) || key === next.key;
    const larger = treeLayout(step, isOpenNow, siblings);
    if (larger.rows <= room.rows && larger.columns <= columns) {
      open.add(next.key);
      layout = larger;
    } else tooLarge.add(next.key);
  }
}

/**
 * Every node in less room: only what was visited has a name, rows without names are low, and no
 * edge crosses the names of the accepted path.
 * @param {Step} step
 * @returns {Layout}
 */
export function sparseLayout(step) {
  const layout = treeLayout(step, () => true, SIBLINGS, true);
  const heights = new Array(layout.rows).fill(0.4);
  for (const mark of layout.marks) {
    mark.bare = mark.outcome === 'unreached';
    if (mark.bare) mark.order = 0;
    else heights[mark.y] = 1;
    mark.leaf ||= mark.outcome === 'rejected'; // no name follows
  }
  heights[layout.spine] = 1.46; // two lines of names
  /** @param {number} row */
  const top = row => heights.slice(0, row).reduce((a, b) => a + b, 0);
  for (const mark of layout.marks) mark.y = top(mark.y);
  const staggered = top(layout.spine);
  return { ...layout, rows: top(layout.rows), spine: staggered, staggered };
}

/**
 * A chain as stairs: every node has a row for its name.
 * @param {Step} step
 * @returns {Layout}
 */
export function stairLayout(step) {
  const layout = treeLayout(step, () => true);
  layout.marks.forEach((mark, y) => Object.assign(mark, { y, leaf: true, stair: true }));
  return { ...layout, rows: layout.marks.length };
}
