// What the page's components start with. Each export gets a host, which is how app/parts/web.py starts it: the element,
// gradio's own `props`, `trigger` and `server`, and `values(receive)`, which calls with the value now and whenever a new
// one arrives. None is lost while this script is on its way. Only `job` is no component: the events of app/parts/job.py
// call it.

import { jobNews } from './base/jobs.js';
import { placeAsked } from './base/place.js';
import { compareBoard } from './compare/board.js';
import { figureCard, statusLine } from './figures/card.js';
import { publishedTables } from './figures/published.js';
import { opensInLab } from './labs/node.js';
import { treeLab } from './labs/trees.js';
import { verificationLab } from './labs/verification.js';
import { lessonBook } from './lessons/lessons.js';
import { pageHeader } from './page/header.js';
import { linkBar } from './page/links.js';
import { paperPages } from './papers/papers.js';
import { runPlayer } from './stage/player.js';

export const job = jobNews;
export const header = ({ element, trigger }) => pageHeader(element, () => trigger('select'));
export const card = ({ element, values }) => values(value => figureCard(element, value));
export const status = ({ element, values }) => values(value => statusLine(element, value));
export const notice = status;
export const published = ({ element, values }) => values(value => publishedTables(element, value));
export const links = ({ element, trigger, values }, about) => values(linkBar(element, about, trigger));
export const trees = ({ element, trigger, values }) => values(treeLab(element, question => trigger('select', question)));
export const verification = ({ element, props, server }) => verificationLab(element, JSON.parse(props.value), server);
export const compare = ({ element, server, values }) => values(compareBoard(element, () => server.recorded(0)).receive);

export function papers({ element, props, server, trigger, values }) {
  const fetchPage = name => server.source_page(name), ask = wanted => trigger('select', wanted);
  values(paperPages(element, JSON.parse(props.value), fetchPage, ask));
}

export function stage({ element, server, values }, { most }) {
  const player = runPlayer(element, { save: server.save, open: server.open_trace, most, take: opensInLab });
  player.expect(placeAsked(location.search, false));
  values(player.receive);
}

export function lessons({ element, props, server }) {
  lessonBook(element, JSON.parse(props.value), number => server.lesson(number), { save: server.save });
}
