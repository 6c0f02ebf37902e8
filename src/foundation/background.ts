/** Work that goes on after the answer for which it was begun, and ends with the server at the latest. */
export interface Background {
  /** Whether the server is closing. Long work looks at it now and then, and ends. */
  readonly isClosing: boolean;
  /** Whoever waits for the work sees its error too; while the server is closing, nobody else does. */
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
