// The views of lessons, by the name that the lesson's module gives.

import { machinesView as machines } from './machines.js';
import { mistakesView as mistakes } from './mistakes.js';
import { pipelineView as pipeline } from './pipeline.js';
import { ranksView as ranks } from './ranks.js';

export const VIEWS = { machines, mistakes, pipeline, ranks };
