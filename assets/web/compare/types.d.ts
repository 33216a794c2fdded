// What the server sends of a comparison, as app/tabs/compare/runs.py writes it.

import type { Figures, PairedSpeedup, Sent } from '../base/types.js';

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
  /** Seconds and tokens by the end of each of these steps. */
  clock?: [number, number][];
  figures?: Figures;
  /** Of every column against plain decoding, as far as both are known. */
  speedups?: (number | null)[];
  pairs?: Pair[];
  paired?: PairedSpeedup;
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
  /** Of a comparison that was not decoded now: what it is, and when and where it was recorded. */
  badge?: string;
  when?: string;
}
