// What the server sends to the two labs, as app/tabs/labs/pictures.py and app/tabs/labs/verification_lab.py write it.

// ---- the Tree lab ----

/** What is said of any tree. */
interface Titled {
  name: string;
  title: string;
  settings: string;
  note: string;
}

/** A tree; columns have one entry for each node. */
export interface LabTree extends Titled {
  kind: 'static' | 'synthetic';
  parents: number[];
  /** Where each node stands, from the top. */
  rows: number[];
  /** With which each node is accepted. */
  chance: number[];
  tokens: number;
  error: number;
  stats: string;
}

/** A builder that cannot make a tree here. */
export interface NoTree extends Titled {
  kind: 'none';
}

/** The trees side by side. */
export interface Forest {
  source: { kind: string; label: string };
  where: string;
  read: string;
  synthetic: string;
  hint: string;
  trees: (LabTree | NoTree)[];
  csv: string;
}

/** An attention mask for one order of the nodes. */
export interface Mask {
  name: string;
  said: string;
  order: number[];
  /** Row, column and the pairs in it. */
  blocks: [number, number, number][];
}

/** What the Tree lab shows; `one` is about the tree that is large. */
export interface Trees {
  forest: Forest;
  one: { name: string; block: number; choices: number[]; orders: Mask[]; bound: string };
}

// ---- the Verification lab ----

/** A node whose rows are set by hand; weights may be any numbers, and NaN while nothing is typed. */
export interface LabNode {
  p: number[];
  q: number[];
  children: number;
  levels: number;
  rule: string;
  scheme: string | null;
  seed: number;
}

/** What the lab starts with. */
export interface Start {
  presets: (LabNode & { title: string; why: string })[];
  rules: { name: string; title: string; scheme: string }[];
  schemes: Record<string, string>;
  /** One letter a token. */
  names: string;
  most: { tokens: number; children: number; levels: number; seed: number };
}

/** Numbers by name, one for each token; null where none is known. */
export type Rows = Record<string, (number | null)[]>;

/** One drafted token as the rule met it. */
export interface Try {
  node: number;
  token: number;
  outcome: string;
  accept_prob: number | null;
  coin: number | null;
  before: Rows;
  after: Rows;
  facts: Record<string, number>;
  why: string;
}

/** A run: what was drafted, the tries in the rule's order, what was written. */
export interface Told {
  drafted: number[];
  tries: Try[];
  emitted: number[];
  corrected: boolean;
  /** Whether the rule went on: below the accepted token, the only one of `emitted`, or elsewhere in the tree. */
  goesOn?: boolean;
  /** What the last token was drawn from, where the rule kept it. */
  last: (number | null)[] | null;
  facts: Record<string, number>;
  /** When each token arrived; null where it was in no race. */
  races: Record<string, (number | null)[]>;
}

/** How what a rule writes was worked out. */
interface Proof {
  proof: '' | 'enumeration' | 'closed form';
  runs: number;
}

/** The law of what a rule writes beside the target's own, for `texts` of all `of`; without them where those are too many. */
export type Exact =
  | (Proof & { texts?: undefined })
  | (Proof & { texts: number[][]; of: number; own: number[]; written: number[]; deviation: number });

/** What a run of a rule looks like; without one where the rule cannot work there. */
export interface Seen {
  error?: undefined;
  p: number[];
  q: number[];
  said: string[];
  kind: string;
  reason: string;
  scheme: string;
  run?: Told;
  exact?: Exact;
}

/** The acceptance and output distribution of one rule on a node. */
export type RuleRow = { rule: string; title: string; reason: string } & (
  | { kind: 'impossible' }
  | (Proof & {
      kind: 'lossless' | 'lossy' | 'useless';
      scheme: string;
      accepted: number | null;
      ceiling: number;
      deviation: number | null;
    }));

/** All rules side by side, and what a first child is worth. */
export interface Rules {
  error?: undefined;
  levels: number;
  first: [string, number][];
  rows: RuleRow[];
}

/** A question that cannot be answered. */
export interface Rejected {
  error: string;
}
