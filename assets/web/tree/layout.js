// Where the tree of one step goes, left to right: siblings from top to bottom in the order in which
// they were tried, and the accepted path a straight line between them.

/**
 * Something that is drawn: a node, or the target's own token (key "last").
 * @typedef {object} Mark
 * @property {string} key
 * @property {number} node its own number, or of the target's token the next one
 * @property {Mark | null} from
 * @property {number} x the column
 * @property {number} y the row
 * @property {string} outcome of the node, or what the last token is
 * @property {string} text its token
 * @property {number | null} [q] the draft's probability of it
 * @property {string | null} [drafter] who drafted it, where that is known
 * @property {boolean} leaf nothing follows in its row, so its label may be long
 * @property {number} order as which of its siblings it is tried, from 1; 0 where it has none or
 *   none was tried
 */

/**
 * The marks in the order in which arrow keys walk them, and how many rows they take.
 * @typedef {{ marks: Mark[], rows: number }} Layout
 */

/**
 * The node that the key of a mark stands for; null for the target's token, which is none.
 * @param {string} key
 */
export const nodeOfKey = key => (key === 'last' ? null : Number(key));

/** Whether the rule compared such a node. @param {string} outcome */
export const isTried = outcome => ['accepted', 'rejected', 'passed'].includes(outcome);

/** @param {{ parents: number[] }} step */
export function childrenOf(step) {
  const children = step.parents.map(() => /** @type {number[]} */ ([]));
  for (let i = 1; i < step.parents.length; i++) children[step.parents[i]].push(i);
  return children;
}

/** @param {Step} step @returns {Layout} */
export function treeLayout(step) {
  const children = [...childrenOf(step), []];
  const own = step.parents.length; // the target's token is laid out like one more node
  const outcome = [...step.outcome, step.last ?? ''];
  const texts = [...step.texts, step.pieces?.at(-1) ?? ''];
  const areSeveral = new Set(step.drafter?.filter(Boolean)).size > 1;
  /** @param {number} node */
  const wasTried = node => isTried(outcome[node]);
  const end = children[Math.max(0, step.outcome.lastIndexOf('accepted'))];
  if (step.last) end.splice(end.findLastIndex(wasTried) + 1, 0, own); // after all that were tried

  /** @type {Mark[]} */
  const marks = [];
  let rows = 0; // so far: each mark that nothing follows takes the next one

  /**
   * @param {number} node
   * @param {number} x
   * @param {Mark | null} from
   * @param {number} order
   */
  function place(node, x, from, order) {
    const key = node === own ? 'last' : String(node);
    const below = children[node];
    /** @type {Mark} */
    const mark = {
      key,
      node,
      from,
      x,
      y: rows,
      outcome: outcome[node],
      text: texts[node],
      q: step.q[node],
      drafter: areSeveral ? step.drafter?.[node] : null,
      leaf: !below.length,
      order,
    };
    marks.push(mark);
    const drafted = below.filter(child => child !== own && outcome[child] !== 'probe');
    const isOrdered = drafted.length > 1 && drafted.some(wasTried);
    const placed = below.map(child => {
      return place(child, x + 1, mark, isOrdered ? drafted.indexOf(child) + 1 : 0);
    });
    const straight = placed.find(({ node: i }) => i === own || outcome[i] === 'accepted');
    if (mark.leaf) rows++;
    else mark.y = (straight ?? placed[0]).y;
    return mark;
  }

  place(0, 0, null, 0);
  return { marks, rows };
}
