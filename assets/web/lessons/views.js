// The views of lessons, by the name that the lesson's module gives.

import { ranksView as ranks } from './ranks.js';

export const VIEWS = { ranks };
