// What the server sends of a lesson, as app/tabs/lessons/__init__.py writes it.

import type { Message } from '../base/types.js';

/** A place in the recordings of a lesson. */
export interface Look {
  recording: number;
  step: number;
  node: string | null;
}

/** A recorded run. */
export interface Recorded {
  label: string;
  message: Message;
}

/** What a view shows: of each step where it is and a sentence, and what the view draws. */
export interface ShownRun {
  label: string;
  message?: undefined;
  steps: [string, string][];
  data: unknown;
}

/** A lesson; texts are paragraphs, in which **words** between stars are terms that it defines. */
export interface Lesson {
  number: number;
  title: string;
  text: string[];
  task: string;
  question: string;
  answer: string[];
  /** Whether the measures of the run are shown. */
  timed: boolean;
  /** Pages that show more of it: a label, and the parameters of the address. */
  links: [string, string][];
  opens: Look;
  shows: Look;
  /** The name of a view that stands in place of the runs, or "". */
  view: string;
  runs: (Recorded | ShownRun)[];
}
