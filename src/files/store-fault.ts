/** A request that the object store did not fulfil. */
export class StoreFault extends Error {
  /** The HTTP status of the answer; null if there was none. */
  readonly status: number | null;
  /** The store's code for the error, like `NoSuchKey`; empty if it gave none. */
  readonly code: string;

  constructor(message: string, { status = null, code = "", cause }: StoreFaultFacts = {}) {
    super(message, { cause });
    this.status = status;
    this.code = code;
  }

  /** Whether the store works but has no such object. */
  get isMissing(): boolean {
    return this.code === "NoSuchKey";
  }

  /** Whether requests for other objects would fail too. */
  get isAway(): boolean {
    return !this.isMissing && (this.status === null || !OF_OBJECT.has(this.status));
  }
}

interface StoreFaultFacts {
  readonly status?: number | null;
  readonly code?: string;
  readonly cause?: unknown;
}

/** Statuses about one request: it is malformed, or its length, size or range is wrong. */
const OF_OBJECT = new Set([400, 411, 413, 416]);

/** Makes a fault of any error that ended a request or an answer. */
export function asFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new StoreFault(`no answer (${code ?? message})`, { cause: error });
}
