// What the server sends to the lessons, as app/tabs/lessons writes it.

/** A piece of text with its kind: "", "strong", "em", or the address of a link. */
export type Span = [string, string];

/** A paragraph or a table. */
export type Block = { spans: Span[]; rows?: undefined } | { rows: Span[][][]; spans?: undefined };

/** A place in the pictures of a lesson. */
export interface Place {
  picture: number;
  step: number;
  node: number | string | null;
}

/** A recorded run, or a figure with the data that it draws. */
export type Picture =
  | { label: string; message: Message; name?: undefined }
  | { label: string; name: 'race' | 'times' | 'lossy'; data: unknown; message?: undefined };

export interface Lesson {
  name: string;
  title: string;
  sentence: string;
  /** Of the pictures from the first on that is shown. */
  examples: string[];
  body: Block[];
  exercise: Block[];
  question: string;
  answer: Block[];
  notes: Block[];
  timed: boolean;
  opens: Place;
  shows: Place;
  pictures: Picture[];
}

/** What the page starts with: name and title of every lesson, and what older links call them. */
export interface Start {
  lessons: [string, string][];
  old: Record<string, string>;
}

/** What draws a figure in a box. */
export type Figure = (box: HTMLElement, data: any) => void;

/** Two races with one noise; the first draft is the target itself. */
export interface Races {
  tokens: string[];
  seeds: number;
  drafts: { row: number[]; times: number[]; winner: number; equal: number }[];
  error: number;
}

/** The time of a step by the nodes of its tree, a curve for each place of the weights. */
export interface Times {
  x: string;
  y: string;
  curves: { label: string; points: [number, number][]; best: [number, number] }[];
}

/** What a rule writes on a tree, beside the target. */
export interface JudgedRule {
  /** The text whose probability differs most. */
  text: string;
  probability: number;
  target: number;
  accepted: number;
  wrong_here: boolean;
  /** A tree on which it differs. */
  wrong_on: string | null;
}

/** Four rules, and what each does on small trees. */
export interface Rules {
  words: string[];
  trees: Record<string, JudgedRule[]>;
  /** The tree that is shown first. */
  tree: string;
  answered: boolean;
}
