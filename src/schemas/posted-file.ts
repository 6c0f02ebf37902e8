/** A file as a submission's data have it. */
export interface FileFacts {
  readonly id: string;
  /** Cleaned: no path, no control characters, 200 characters at most. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The media type that its content has. */
  readonly type: string;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Only if the file is not simply there. */
  readonly state?: "scanning" | "infected" | "unscanned" | "deleted";
  /** The name of the virus, if it is `infected`. */
  readonly verdict?: string;
}

/** Why a file is refused: its size, its type, its name, or because too many came before it. */
export type FileFault = "size" | "type" | "name" | "count";

/** What the server accepts, whatever a field says. */
export interface FileBounds {
  readonly maxFileBytes: number;
  /** Of one post. */
  readonly maxFiles: number;
}

/**
 * A file that came with a post, as the value of its field. A class, because nothing that a body says may pass for one: the ids of files
 * are ours.
 */
export class PostedFile {
  readonly facts: FileFacts;
  /** What was found while it was read; null if nothing is wrong. */
  readonly fault: FileFault | null;
  readonly bounds: FileBounds;

  constructor(facts: FileFacts, fault: FileFault | null, bounds: FileBounds) {
    this.facts = facts;
    this.fault = fault;
    this.bounds = bounds;
  }
}
