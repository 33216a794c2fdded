// Numbers with a name and a bar each, as the list below the tables of a lab.

import { make } from '../base/dom.js';

/**
 * @param {HTMLElement} list a <dl class="sv-v-first">
 * @param {[name: string, value: number, text?: string][]} rows the text is the value with four digits where none is given
 * @param {number} [most] the value of a full bar
 */
export function measureBars(list, rows, most = 1) {
  list.replaceChildren(...rows.flatMap(([name, value, text]) => {
    const track = make('i'), bar = make('u'), drawn = make('dd', text ?? value.toFixed(4));
    bar.style.width = `${100 * Math.min(1, value / most)}%`;
    track.append(bar);
    drawn.prepend(track);
    return [make('dt', name), drawn];
  }));
}
