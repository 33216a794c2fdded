// What the server sends of a lesson, as app/tabs/lessons/__init__.py writes it.

import type { Message } from '../base/types.js';

/** A place in the recordings of a lesson. */
export interface Look {
  recording: number;
  step: number;
  node: string | null;
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
  runs: { label: string; message: Message }[];
}
