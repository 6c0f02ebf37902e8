/** A page of docs/ in parts from which the dashboard makes markup, and the command line text. */
export interface ManualPage {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly heading: Inlines; readonly level: number; readonly anchor: string }
  | { readonly paragraph: Inlines }
  | { readonly code: string }
  | { readonly items: readonly (readonly Block[])[]; readonly isOrdered: boolean }
  | { readonly head: readonly Inlines[]; readonly rows: readonly (readonly Inlines[])[] };

export type Inlines = readonly Inline[];

/** `to` is a web address, an anchor like `#keys`, or another page with or without an anchor, like `spam#held-posts`. */
export type Inline =
  | string
  | { readonly code: string }
  | { readonly strong: Inlines }
  | { readonly emphasis: Inlines }
  | { readonly link: Inlines; readonly to: string };
