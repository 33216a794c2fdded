// What the server sends to the two labs, as app/tabs/labs writes it.

/** A tree; columns have one entry for each node. */
export interface LabTree {
  name: string;
  title: string;
  parents: number[];
  /** With which each node is accepted. */
  chance: number[];
  tokens: number;
  /** Times plain decoding, by where the weights lie. */
  speeds: Record<string, number>;
  nodes: number;
  levels: number;
  passes: number;
  /** Where the rule of the vector would be lossy. */
  mark: string;
}

/** The trees of a vector, with the sentence about them. */
export interface Trees {
  trees: LabTree[];
  answer: string;
}

/**
 * What the lab starts with: vectors with sizes, the sliders, builders by name and title, and the
 * first answer.
 */
export interface TreeStart {
  presets: {
    title: string;
    vector: string;
    nodes: number;
    levels: number;
    width: number;
    /** Whose acceptance and pass times the numbers rest on. */
    about: string;
  }[];
  /** The same once a visitor changed the vector. */
  own: string;
  sizes: Record<string, { title: string; minimum: number; maximum: number; default: number }>;
  builders: [string, string][];
  first: string;
}

/**
 * A node whose rows are set by hand; weights may be any numbers, and NaN while nothing is typed.
 */
export interface LabNode {
  p: number[];
  q: number[];
  children: number;
  levels: number;
  rule: string;
  scheme: string | null;
  seed: number;
}

/**
 * What the lab starts with: examples, rules and sampling schemes by name and title, a letter for
 * each token, limits.
 */
export interface Start {
  examples: (LabNode & { title: string; about: string })[];
  rules: [string, string][];
  schemes: [string, string][];
  names: string;
  most: { children: number; levels: number; seed: number };
  /** The answer for the first example. */
  first: string;
}

/** Numbers by name, one for each token; null where none is known. */
export type Rows = Record<string, (number | null)[]>;

/** One drafted token as the rule tried it. */
export interface Try {
  node: number;
  token: number;
  outcome: string;
  accept_prob: number | null;
  coin: number | null;
  before: Rows;
  after: Rows;
  /** When the first tokens arrive in the target's race. */
  times?: (number | null)[];
  why: string;
}

/**
 * The draws of a step: what was drafted, the tries in the rule's order, what was written, and
 * whether the run goes on below an accepted child.
 */
export interface Run {
  drafted: number[];
  tries: Try[];
  emitted: number[];
  goesOn: boolean;
  corrected: boolean;
  /** Whether the outcomes of all tries are known only after the last. */
  isBlock: boolean;
  /** What the last token was drawn from, where the rule recorded it. */
  last: (number | null)[] | null;
}

/** What is known of a rule on a node: computed ("equal", "differs"), or what is known otherwise. */
export interface RuleRow {
  rule: string;
  title: string;
  scheme: string | null;
  kind: 'impossible' | 'failed' | 'equal' | 'differs' | 'proven' | 'only declared';
  /** Whether it is impossible because the node has several children. */
  needs_chain: boolean;
  accepted: number | null;
  /** In sentences, what they rest on, and both in a cell. */
  verdict: string;
  proof: string;
  word: string;
}

/** A run, and the distribution of what the rule writes beside the target's for some texts. */
export interface Seen {
  p: number[];
  q: number[];
  row: RuleRow;
  step: Sent | null;
  law: { caption: string; texts: number[][]; target: number[]; rule: number[] } | null;
}
