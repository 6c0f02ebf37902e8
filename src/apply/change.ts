import type { PerformAnywhere } from "./read-current.ts";

/** One setting that becomes another. */
export interface Difference {
  readonly member: string;
  /** Undefined if there was none. */
  readonly from?: unknown;
  readonly to: unknown;
}

/** A key or a secret that was made just now, and is shown this once. */
export interface MadeSecret {
  /** The endpoint that it belongs to: its workspace and name. */
  readonly workspace: string;
  readonly endpoint: string;
  readonly endpointId: string;
  /** Of the webhook whose secret it is; null for the keys of the endpoint. */
  readonly webhook: { readonly id: string; readonly url: string } | null;
  /** Null if whoever applies the file may issue no secret key. */
  readonly secret: string | null;
  readonly publishable: string | null;
}

/** What is shown of a change that was made to whoever applies the file. */
export interface ChangeOutcome {
  readonly secrets: readonly MadeSecret[];
  readonly warnings: readonly string[];
}

export const NOTHING_TO_SHOW: ChangeOutcome = { secrets: [], warnings: [] };

/** One operation, and what it will have changed. */
export interface FormsChange {
  readonly verb: "create" | "change" | "delete";
  readonly kind: "workspace" | "endpoint" | "schema" | "spam" | "webhook" | "recipient" | "autoreply";
  /** What is changed, in the words of the file: `Client A/Contact`, and what it is known by. */
  readonly name: string;
  readonly differences: readonly Difference[];
  /** Whether it makes keys or a secret, which are shown once. */
  readonly makesSecret: boolean;
  /** Does it. The id of what it makes is remembered for the changes after it. */
  readonly run: (perform: PerformAnywhere) => Promise<ChangeOutcome>;
}

/** What is to be done, in this order. */
export interface Plan {
  readonly changes: readonly FormsChange[];
  /** What the file does not name and is there all the same, each with the reason for which it stays. */
  readonly kept: readonly string[];
  /** What whoever applies the file should know. */
  readonly notes: readonly string[];
}
