/** A file in the data of a submission. */
export interface FileFacts {
  readonly id: string;
  /** Cleaned: without path or control characters, 200 characters at most. */
  readonly name: string;
  /** The size in bytes. */
  readonly size: number;
  /** The media type, found by the file's content. */
  readonly type: string;
  /** In hexadecimal. */
  readonly sha256: string;
  /** Absent if the file can simply be read. */
  readonly state?: "scanning" | "infected" | "unscanned" | "deleted";
  /** The name of the virus, if the state is `infected`. */
  readonly verdict?: string;
}

/** Why a file is refused: its size, its type, its name, or the number of files before it. */
export type FileFault = "size" | "type" | "name" | "count";

/** The limits of the server, which apply whatever a field says. */
export interface FileBounds {
  readonly maxFileBytes: number;
  /** The largest number of files in one post. */
  readonly maxFiles: number;
}

/**
 * A file that came with a post, as the value of its field. It is a class, so that no value of a body can be taken for a file: we choose the
 * ids of files.
 */
export class PostedFile {
  readonly facts: FileFacts;
  /** The fault that was found while the file was read; null if there is none. */
  readonly fault: FileFault | null;
  readonly bounds: FileBounds;

  constructor(facts: FileFacts, fault: FileFault | null, bounds: FileBounds) {
    this.facts = facts;
    this.fault = fault;
    this.bounds = bounds;
  }
}
