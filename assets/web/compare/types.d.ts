// What the server sends of a comparison, as app/tabs/compare/messages.py writes it.

/** What one column runs. */
export interface About {
  letter: string;
  /** What it is, which gives it its colour: plain, chain, tree, other. */
  kind: string;
  title: string;
  details: string;
  lossy: string | null;
}

/** A remark on all texts of which, two by two, the same is true. */
export interface Remark {
  letters: string[];
  text: string;
  why: string;
  /** The first token that differs. */
  position: number | null;
}

/** A row of the table: for each column a value and a note below it. */
export interface Row {
  name: string;
  cells: [string, string][];
}

/** What is new of a column. */
export interface ColumnUpdate {
  at: number;
  state?: 'running' | 'done';
  steps?: Sent[];
  /** Seconds and tokens by the end of each of these steps; of all steps where none is new. */
  clock?: [number, number][];
}

/** One message; the one with columns opens a comparison. */
export interface Message {
  run: string;
  updates?: ColumnUpdate[];
  remarks?: Remark[];
  table?: Row[];
  /**
   * How many times as fast as plain decoding each run is, or that it was not timed.
   */
  factors?: string[];
  /** Who is how many times as fast as plain decoding, in a sentence. */
  headline?: string;
  state?: 'loading' | 'running' | 'timing' | 'done' | 'stopped';
  note?: string;
  columns?: About[];
  prompt?: string;
  /** What the controls held; of a recorded comparison what they hold as the page opens. */
  settings?: string;
  pair?: string;
  /** Of a comparison that was not decoded now: what it is. */
  badge?: string;
}
