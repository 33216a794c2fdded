// What the page's components start with: app/tabs/parts/web.py calls each export with a host.

import { publish } from './base/bus.js';
import { query } from './base/dom.js';
import { strategyPicker } from './base/picker.js';
import { placeOf } from './base/place.js';
import { compareBoard } from './compare/board.js';
import { figureCard, figurePages, fixButton, statusLine } from './figures/card.js';
import { opensInLab } from './labs/node.js';
import { treeLab } from './labs/trees.js';
import { verificationLab } from './labs/verification.js';
import { lessonBook } from './lessons/lessons.js';
import { pageHeader } from './page/header.js';
import { linkedControls } from './page/links.js';
import { freshness, headline as headlineView, opener as openerButton } from './stage/headline.js';
import { runPlayer } from './stage/player.js';
import { promptHelp } from './stage/prompts.js';
import { sampledTexts } from './stage/sampled.js';
import { runLink } from './stage/share.js';

/**
 * @typedef {object} Host
 * @property {HTMLElement} element
 * @property {{ value: string, marks?: string, settings?: string }} props gradio's own, like the
 *   next two
 * @property {(event: string, data?: object) => void} trigger
 * @property {Record<string, Ask>} server its functions
 * @property {(receive: (value: string) => void) => void} values calls with the value now and
 *   whenever a new one arrives; none is lost while this script is on its way
 * @property {(name: string, changed: () => void) => void} watch calls whenever the server changes
 *   a property
 * @property {Record<string, import('./base/picker.js').Strategy[]>} menus what pickers offer, by
 *   kind
 */
/** @typedef {(host: Host) => void} Component */

/** @type {Component} */
export const header = pageHeader;
/** @type {Component} */
export const card = ({ element, values }) => {
  figurePages(element);
  values(value => figureCard(element, value));
};
/** @type {Component} */
export const status = ({ element, values }) =>
  values(value => statusLine(element, JSON.parse(value || '{}')));
/** @type {Component} */
export const notice = ({ element, values }) =>
  values(value => {
    const message = JSON.parse(value || '{}');
    statusLine(element, message);
    fixButton(element, message.fix);
    if (message.settings) publish('settings', message);
  });
/** @param {Host} host @param {{ kind: string, label: string, compared: boolean }} options */
export function picker({ element, props, values, watch, menus }, { kind, label, compared }) {
  const { receive, mark } = strategyPicker(
    query(element, '.sv-picker'),
    menus[kind].filter(({ name }) => name !== 'plain' || (compared && kind === 'builder')),
    { label, folded: compared },
    text => {
      props.value = text;
    },
  );
  values(receive);
  const marked = () => mark(JSON.parse(props.marks || '{}'));
  watch('marks', marked);
  marked();
}
/** @type {Component} */
export const headline = headlineView;
/** @param {Host} host @param {Parameters<typeof promptHelp>[1]} options */
export function prompts({ element, props, server, trigger }, options) {
  promptHelp(element, options, props.value, server.preparing, () => trigger('select', {}));
}
/** @type {Component} */
export const opener = openerButton;
/** @type {(host: Host, about: Parameters<typeof linkedControls>[1]) => void} */
export const links = ({ element, trigger, menus, server }, about) =>
  linkedControls(element, about, menus, server.offered, () => trigger('select'));
/** @type {Component} */
export const trees = ({ element, props, server }) =>
  treeLab(element, JSON.parse(props.value), server.trees);
/** @type {Component} */
export const verification = ({ element, props, server }) =>
  verificationLab(element, JSON.parse(props.value), server);
/** @type {Component} */
export const compare = ({ element, props, server, values, watch }) => {
  const board = compareBoard(element, server, () => props.settings);
  watch('settings', board.edited);
  values(board.receive);
};

/** @param {Host} host @param {{ most: number }} limits */
export function stage({ element, server, values }, { most }) {
  let wasStale = false;
  const player = runPlayer(element, {
    save: server.save,
    code: server.qr_code,
    most,
    take: opensInLab,
    freshness,
    request: placeOf(location.search),
    headline(content) {
      // What was not asked for does not play on, but may be played.
      if (content.stale && !wasStale) player.position.rest();
      wasStale = content.stale !== '';
      publish('headline', content);
    },
    address(run) {
      if (run.origin === 'file' || !element.offsetParent) return;
      history.replaceState(history.state, '', runLink(run, run.show, location.href));
    },
    opened(run) {
      const { search } = new URL(runLink(run, 0, location.href));
      if (run.head.settings) publish('opened', { search });
    },
  });
  values(player.receive);
}

/** @type {(host: Host, about: Parameters<typeof sampledTexts>[1]) => void} */
export const sampled = ({ element, trigger, values }, about) =>
  values(sampledTexts(element, about, () => trigger('select')));

/** @param {Host} host */
export function lessons({ element, props, server }) {
  lessonBook(element, JSON.parse(props.value), server);
}
