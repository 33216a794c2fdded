// What the server sends of a comparison, as app/tabs/compare/runs.py writes it.

import type { Sent } from '../base/types.js';

/** How a run stands; the browser itself says that one was stopped, or never begun. */
export type State = 'waiting' | 'running' | 'done' | 'error' | 'stopped' | 'never';

/** What one column runs. */
export interface About {
  letter: string;
  title: string;
  details: string;
  lossy: string | null;
  plain: boolean;
}

/** A run in numbers, null where there is nothing to divide by; parts are in the order of PARTS. */
export interface Figures {
  tokens: number;
  passes: number;
  accepted: number;
  compared: number;
  per_pass: number | null;
  acceptance: number | null;
  rate: number | null;
  token_ms: number | null;
  step_ms: number | null;
  token_parts: (number | null)[];
  step_parts: (number | null)[];
}

/** What is said about two texts, and the first token that differs. */
export interface Pair {
  a: string;
  b: string;
  kind: 'equal' | 'differs' | 'expected' | 'so far';
  text: string;
  why: string;
  position: number | null;
}

/** What is new of a column. */
export interface ColumnNews {
  at: number;
  state?: State;
  note?: string;
  steps?: Sent[];
  figures?: Figures;
  pairs?: Pair[];
}

/** One message; the one with columns opens a comparison. */
export interface News {
  run: string;
  news?: ColumnNews[];
  state?: 'loading' | 'running' | 'done' | 'stopped' | 'error';
  note?: string;
  columns?: About[];
  prompt?: string;
  pair?: string;
  recorded?: boolean;
  when?: string;
}
