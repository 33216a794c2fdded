// What the server sends for the tab Papers, as app/tabs/papers/__init__.py writes it.

export type State = 'reproduced' | 'holds by proof' | 'undecided' | 'differs' | 'not available here';
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

/** A sentence of a source as a number, a relation and a bound, and what was found; of a proof the number is an error. */
export interface Claim {
  says: string;
  /** Where it stands, if not where its entry does. */
  place: string;
  proof: boolean;
  relation: '>' | '<' | 'within';
  bound: number | [number, number];
  estimate: number | null;
  low: number | null;
  high: number | null;
  seeds: number | null;
  texts: number | null;
  verdict: State;
  sentence: string;
}

/** An algorithm, theorem, figure or table of a source, and what was measured of it. */
export interface Entry {
  name: string;
  place: string;
  title: string;
  says: string;
  quoted: Table | null;
  /** The verdict that a reader must know of. */
  state: State;
  claims: Claim[];
  /** Where its numbers were made; empty where there are none. */
  made: string;
  blocks: (Lines | Table)[];
  opens: { label: string; query: string }[];
  measurable: boolean;
}

/** One source: its entries, how many claims have each verdict in it, and in all sources. */
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
