/** Work that goes on after the answer of the request that began it. It ends before the server does. */
export interface Background {
  /** Whether the server is closing. Long work checks it now and then, and ends early. */
  readonly isClosing: boolean;
  /**
   * Keeps track of work. If it fails, `onFailure` is called, unless the server is closing. The promise itself still rejects for its other
   * readers.
   */
  add(work: Promise<unknown>): void;
  /** Resolves when all work has ended. */
  close(): Promise<void>;
}

/** @param onFailure called for work that failed. */
export function createBackground(onFailure: (error: unknown) => void): Background {
  const running = new Set<Promise<void>>();
  let isClosing = false;
  const watch = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      if (!isClosing) onFailure(error);
    }
  };
  return {
    get isClosing() {
      return isClosing;
    },
    add(work) {
      const watched = watch(work).finally(() => running.delete(watched));
      running.add(watched);
    },
    async close() {
      isClosing = true;
      await Promise.all(running);
    },
  };
}
