// What the page's components start with: app/parts/web.py calls each export with a host. Only `job` is no component: the
// events of app/parts/job.py call it.

import { one } from './base/dom.js';
import { jobNews } from './base/jobs.js';
import { placeAsked } from './base/place.js';
import { termed } from './base/terms.js';
import { compareBoard, onRail } from './compare/board.js';
import { figureCard, keepsWidth, statusLine } from './figures/card.js';
import { engineLog } from './figures/log.js';
import { publishedTables } from './figures/published.js';
import { opensInLab } from './labs/node.js';
import { treeLab } from './labs/trees.js';
import { verificationLab } from './labs/verification.js';
import { lessonBook } from './lessons/lessons.js';
import { pageHeader } from './page/header.js';
import { linkBar } from './page/links.js';
import { paperPages } from './papers/papers.js';
import { runPlayer } from './stage/player.js';

/**
 * @typedef {object} Host
 * @property {HTMLElement} element
 * @property {{ value: string }} props gradio's own, like the next two
 * @property {(event: string, data?: object) => void} trigger
 * @property {Record<string, import('./base/types.js').Ask>} server its functions
 * @property {(receive: (value: string) => void) => void} values calls with the value now and whenever a new one arrives;
 *   none is lost while this script is on its way
 */
/** @typedef {(host: Host) => void} Component */

export const job = jobNews;
/** @type {Component} */
export const header = ({ element, trigger }) => pageHeader(element, () => trigger('select'));
/** @type {Component} */
export const intro = ({ element, values }) => values(text => one(element, 'p').replaceChildren(...termed(text)));
/** @type {Component} */
export const card = ({ element, values }) => { keepsWidth(element); values(value => figureCard(element, value)); };
/** @type {Component} */
export const status = ({ element, values }) => values(value => statusLine(element, value));
export const notice = status;
/** @type {Component} */
export const published = ({ element, values }) => values(value => publishedTables(element, value));
/** @type {(host: Host, limits: { most: number }) => void} */
export const log = ({ element, server }, { most }) => engineLog(element, server.read_log, most);
/** @type {(host: Host, about: Parameters<typeof linkBar>[1]) => void} */
export const links = ({ element, trigger, values }, about) => values(linkBar(element, about, trigger));
/** @type {(host: Host, about: { besides: string }) => void} */
export const changes = ({ element, trigger }, { besides }) => onRail(element, besides, () => trigger('input'));
/** @type {Component} */
export const trees = ({ element, trigger, values }) => values(treeLab(element, question => trigger('select', question)));
/** @type {Component} */
export const verification = ({ element, props, server }) => verificationLab(element, JSON.parse(props.value), { look: server.look, table: server.table });
/** @type {Component} */
export const compare = ({ element, server, values }) => values(compareBoard(element, () => server.recorded(0)).receive);

/** @param {Host} host */
export function papers({ element, props, server, trigger, values }) {
  values(paperPages(element, JSON.parse(props.value), name => server.source_page(name), wanted => trigger('select', wanted)));
}

/** @param {Host} host @param {{ most: number }} limits */
export function stage({ element, server, values }, { most }) {
  const player = runPlayer(element, { save: server.save, open: server.open_trace, most, take: opensInLab });
  player.expect(placeAsked(location.search, false));
  values(player.receive);
}

/** @param {Host} host */
export function lessons({ element, props, server }) {
  lessonBook(element, JSON.parse(props.value), number => server.lesson(number), { save: server.save });
}
