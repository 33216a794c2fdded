// Bars of p and q that are dragged, moved by keys or typed. Weights may be any numbers; what is shown are their shares.

import { finder, make, query } from '../base/dom.js';

const ROWS = /** @type {const} */ (['p', 'q']);
/** @type {Record<string, number>} */
const BY_KEY = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1 };
/** @type {Record<string, number>} */
const ENDS = { Home: 0, End: 1 };

/** @param {number[]} weights NaN counts as nothing */
export function sharesOf(weights) {
  const total = weights.reduce((sum, weight) => sum + Math.max(0, weight || 0), 0);
  return weights.map(weight => (total > 0 ? Math.max(0, weight || 0) / total : 0));
}

/**
 * One share is set; the others keep their proportions and make room for it.
 * @param {number[]} weights
 * @param {number} token
 * @param {number} wanted
 */
export function withShare(weights, token, wanted) {
  const value = Math.round(1000 * Math.min(1, Math.max(0, wanted))) / 1000, row = sharesOf(weights);
  const others = row.reduce((sum, share, i) => sum + (i === token ? 0 : share), 0);
  return row.map((share, i) => (i === token ? value : others > 0 ? (share / others) * (1 - value) : (1 - value) / (row.length - 1)));
}

/** One more token, with an equal share. @param {number[]} weights */
export function withOneMore(weights) {
  const row = sharesOf(weights), share = 1 / (row.length + 1);
  return [...row.map(value => value * (1 - share)), share];
}

/** Without the last token. @param {number[]} weights */
export function withOneLess(weights) {
  const row = sharesOf(weights).slice(0, -1), total = row.reduce((sum, value) => sum + value, 0);
  return row.map(value => (total > 0 ? value / total : 1 / row.length));
}

/**
 * @param {HTMLElement} root
 * @param {{ names: string[] } & Record<typeof ROWS[number], number[]>} state is written to
 * @param {(wait?: number) => void} changed
 */
export function shareBars(root, state, changed) {
  const $ = finder(root, 'sv-v-');

  function show() {
    $('rows').replaceChildren(...state.names.map((text, token) => {
      const row = make('div', '', 'sv-v-row');
      row.append(make('b', text), line('p', token), line('q', token));
      return row;
    }));
    refresh();
  }

  /** @param {typeof ROWS[number]} name @param {number} token */
  function line(name, token) {
    const made = make('div', '', `sv-v-line ${name}`), bar = make('div', '', 'sv-v-bar'), box = make('input');
    const label = `${name === 'p' ? 'target p' : 'draft q'} of ${state.names[token]}`;
    bar.append(make('u'));
    bar.tabIndex = 0;
    for (const [key, value] of Object.entries({ role: 'slider', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': 1 })) bar.setAttribute(key, String(value));
    Object.assign(box, { type: 'number', min: '0', step: 'any' });
    box.setAttribute('aria-label', `${label}, as a number`);
    const move = (/** @type {number} */ wanted) => {
      state[name] = withShare(state[name], token, wanted);
      refresh();
      changed(40);
    };
    const drag = (/** @type {PointerEvent} */ event) => {
      const { left, width } = bar.getBoundingClientRect();
      move((event.clientX - left) / width);
    };
    bar.addEventListener('pointerdown', event => { bar.setPointerCapture(event.pointerId); drag(event); bar.focus(); event.preventDefault(); });
    bar.addEventListener('pointermove', event => { if (bar.hasPointerCapture(event.pointerId)) drag(event); });
    bar.addEventListener('keydown', event => {
      const by = event.key in BY_KEY ? sharesOf(state[name])[token] + BY_KEY[event.key] * (event.shiftKey ? 10 : 1) : null;
      const value = ENDS[event.key] ?? by;
      if (value === null || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      move(value);
    });
    box.addEventListener('change', () => {
      state[name][token] = box.value === '' ? NaN : Number(box.value);
      refresh(box);
      changed();
    });
    made.append(make('span', name), bar, box);
    return made;
  }

  /** @param {HTMLInputElement | null} [typed] keeps what is typed in it */
  function refresh(typed = null) {
    for (const name of ROWS) {
      const row = sharesOf(state[name]);
      root.querySelectorAll(`.sv-v-line.${name}`).forEach((made, token) => {
        const bar = query(made, '.sv-v-bar'), box = query(made, 'input');
        bar.firstChild.style.width = `${100 * row[token]}%`;
        bar.setAttribute('aria-valuenow', row[token].toFixed(3));
        if (box !== typed && !Number.isNaN(state[name][token])) box.value = Number(state[name][token].toPrecision(4));
      });
    }
  }

  return { show, refresh };
}
