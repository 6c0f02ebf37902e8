/** A request that the store of files did not do. */
export class StoreFault extends Error {
  /** Null if it did not answer. */
  readonly status: number | null;
  /** What the store calls it, like `NoSuchKey`; empty if it does not say. */
  readonly code: string;

  constructor(message: string, { status = null, code = "", cause }: StoreFaultFacts = {}) {
    super(message, { cause });
    this.status = status;
    this.code = code;
  }

  /** Whether the store is there, and has no such object. */
  get isMissing(): boolean {
    return this.code === "NoSuchKey";
  }

  /** Whether other objects would fare no better. */
  get isAway(): boolean {
    return !this.isMissing && (this.status === null || !OF_OBJECT.has(this.status));
  }
}

interface StoreFaultFacts {
  readonly status?: number | null;
  readonly code?: string;
  readonly cause?: unknown;
}

/** What is wrong with one request: malformed, its length, its size, its range. */
const OF_OBJECT = new Set([400, 411, 413, 416]);

/** Whatever ended a request or an answer. */
export function asFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new StoreFault(`no answer (${code ?? message})`, { cause: error });
}
