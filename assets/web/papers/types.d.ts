// What the server sends for the tab Papers, as app/tabs/papers/__init__.py writes it.

export type State = 'reproduced' | 'differs' | 'not reproducible';
export type Counts = Record<State, number>;
export type Point = [number, number];

/** Points over common axes; "dashes" is a bound or a prediction. A coordinate that is not finite is null. */
export interface Series {
  name: string;
  points: [number | null, number | null][];
  look: 'line' | 'dashes' | 'dots';
}

export interface Lines {
  kind: 'lines';
  x: string;
  y: string;
  series: Series[];
  log_x: boolean;
  log_y: boolean;
}

export interface Table {
  kind?: 'table';
  columns: string[];
  rows: (string | number | boolean | null)[][];
}

/** An algorithm, theorem, figure or table of a source, and what was measured of it. */
export interface Entry {
  name: string;
  place: string;
  title: string;
  says: string;
  how: 'exact' | 'counted' | 'timed';
  quoted: Table | null;
  status: State;
  sentence: string;
  /** How and where its numbers were made; empty where there are none. */
  made: string;
  blocks: (Lines | Table)[];
  opens: { label: string; query: string }[];
  measurable: boolean;
}

/** One source: its entries, their counts, and those of all sources. */
export interface Page {
  name: string;
  title: string;
  cite: string;
  url: string;
  about: string;
  counts: Counts;
  mine: Counts;
  entries: Entry[];
  sources: Record<string, Counts>;
}

/** A measurement that is under way. */
export interface Running {
  source: string;
  name: string;
  text: string;
}

/** What the server tells of one; before the first there is no state. */
export type News =
  | { state?: undefined }
  | (Running & { state: 'running' | 'failed' })
  | { source: string; name: string; state: 'done'; entry: Entry };
