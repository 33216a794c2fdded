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
 * Marks around one row, and how many rows they take above and below it.
 * @typedef {{ marks: Mark[], up: number, down: number }} Block
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
 * Blocks one above the other, so that the row of the main one is row 0.
 * @param {Block[]} blocks
 * @param {number} main
 * @returns {Block}
 */
function stacked(blocks, main) {
  const marks = /** @type {Mark[]} */ ([]),
    shifts = new Array(blocks.length).fill(0);
  let { up, down } = blocks[main];
  for (let i = main - 1; i >= 0; i--) {
    shifts[i] = -up - 1 - blocks[i].down;
    up = blocks[i].up - shifts[i];
  }
  for (let i = main + 1; i < blocks.length; i++) {
    shifts[i] = down + 1 + blocks[i].up;
    down = blocks[i].down + shifts[i];
  }
  blocks.forEach((block, i) => {
    for (const mark of block.marks) mark.y += shifts[i];
    marks.push(...block.marks);
  });
  return { marks, up, down };
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
  const isReached = (/** @type {number} */ i) =>
    ['root', 'accepted', 'passed'].includes(step.outcome[i]);
  const wasTried = (/** @type {number} */ i) => isTried(step.outcome[i]);
  const end = Math.max(0, step.outcome.lastIndexOf('accepted'));

  /**
   * @param {number} node
   * @param {number} column
   * @param {Mark | null} from
   * @param {number} order
   * @returns {Block}
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
    const drafted = children[node].filter(i => step.outcome[i] !== 'probe');
    const below = children[node];
    if (isLow) below.sort((a, b) => Number(wasTried(a)) - Number(wasTried(b)));
    const blocks = /** @type {Block[]} */ ([]);
    const beside = { leaf: true, from: mark, x: column + 1, y: 0, order: 0 };
    /** @type {(one: Pick<Mark, 'key' | 'outcome' | 'hidden' | 'text'>) => Block} */
    const leafBlock = one => ({ marks: [{ ...beside, ...one }], up: 0, down: 0 });
    const closed = below.length && !isReached(node) && !isOpen(mark.key);
    const spare = below.filter(i => step.outcome[i] === 'unreached').slice(siblings - 1);
    const key = `${node}+`;
    const fold = spare.length > 1 && !isOpen(key) ? new Set(spare) : new Set();
    const isOrdered = drafted.length > 1 && drafted.some(wasTried);
    let main = -1;
    if (closed) mark.hidden = size[node] - 1;
    else {
      for (const i of below) {
        if (fold.has(i)) continue;
        if (step.outcome[i] === 'accepted') main = blocks.length;
        const turn = isOrdered ? drafted.indexOf(i) + 1 : 0;
        blocks.push(place(i, column + 1, mark, turn));
      }
      const hidden = spare.reduce((sum, i) => sum + size[i], 0);
      if (fold.size) blocks.push(leafBlock({ key, outcome: 'more', hidden }));
    }
    if (node === end && step.last) {
      // it comes after all that were tried
      main = below.filter(i => !fold.has(i)).findLastIndex(wasTried) + 1;
      const text = step.pieces.at(-1);
      blocks.splice(main, 0, leafBlock({ key: 'last', outcome: step.last, text, hidden: 0 }));
    }
    mark.leaf = !blocks.length;
    if (mark.leaf) return { marks: [mark], up: 0, down: 0 };
    const block = stacked(blocks, Math.max(0, main));
    return { ...block, marks: [mark, ...block.marks] };
  }

  const { marks, up, down } = place(0, 0, null, 0);
  for (const mark of marks) mark.y += up;
  return {
    marks,
    rows: up + down + 1,
    columns: Math.max(...marks.map(mark => mark.x)) + 1,
    spine: up,
  };
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
  const rowsWith = (/** @type {number} */ few) => treeLayout(step, () => false, few).rows;
  while (siblings > 1 && rowsWith(siblings) > room.rows) siblings--;
  let layout = treeLayout(step, isOpen, siblings);
  const columns = Math.max(room.columns, layout.columns);
  for (;;) {
    const folds = layout.marks.filter(mark => mark.hidden && !tooLarge.has(mark.key));
    if (!folds.length) return { ...layout, opened: open };
    const next = folds.reduce((smallest, mark) =>
      mark.hidden < smallest.hidden ? mark : smallest,
    );
    const isOpenNow = (/** @type {string} */ key) =>
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
  const top = (/** @type {number} */ row) => heights.slice(0, row).reduce((a, b) => a + b, 0);
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
