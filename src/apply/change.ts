import type { PerformAnywhere } from "./read-current.ts";

/** A setting whose value changes. */
export interface Difference {
  readonly member: string;
  /** Undefined if the setting had no value. */
  readonly from?: unknown;
  readonly to: unknown;
}

/** A new key or secret, which is shown only now. */
export interface MadeSecret {
  /** The names of the workspace and of the endpoint that it belongs to. */
  readonly workspace: string;
  readonly endpoint: string;
  readonly endpointId: string;
  /** The webhook whose secret it is; null for the keys of the endpoint. */
  readonly webhook: { readonly id: string; readonly url: string } | null;
  /** Null if the person who applies the file may not issue secret keys. */
  readonly secret: string | null;
  readonly publishable: string | null;
}

/** What the person who applies the file is shown of a change. */
export interface ChangeOutcome {
  readonly secrets: readonly MadeSecret[];
  readonly warnings: readonly string[];
}

export const NOTHING_TO_SHOW: ChangeOutcome = { secrets: [], warnings: [] };

/** One operation, with the changes that it will make. */
export interface FormsChange {
  readonly verb: "create" | "change" | "delete";
  readonly kind: "workspace" | "endpoint" | "schema" | "spam" | "webhook" | "recipient" | "autoreply";
  /** The changed thing in the words of the file: `Client A/Contact`, and what identifies it there. */
  readonly name: string;
  readonly differences: readonly Difference[];
  /** Whether it makes keys or a secret, which are shown only once. */
  readonly makesSecret: boolean;
  /** Runs the operation. It stores the id of a new thing for the changes after it. */
  readonly run: (perform: PerformAnywhere) => Promise<ChangeOutcome>;
}

/** The changes to make, in this order. */
export interface Plan {
  readonly changes: readonly FormsChange[];
  /** Things that exist although the file does not name them, each with the reason for which it stays. */
  readonly kept: readonly string[];
  /** Notes for the person who applies the file. */
  readonly notes: readonly string[];
}
