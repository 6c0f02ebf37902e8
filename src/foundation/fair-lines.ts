/** A bounded queue with several lines. A sender of many waits in one line, so it does not delay the other lines. */
export interface FairLines<Waiter> {
  /**
   * Adds a waiter to the end of a line. If the queue is full, the newest waiter of the longest line is removed, unless the line of the
   * newcomer would become as long: then the newcomer is refused.
   *
   * @returns the waiter that has no room, which may be the newcomer; null if there was room.
   */
  join(line: string, waiter: Waiter): Waiter | null;
  /** Takes the first waiter of the line whose turn it is; undefined if nobody waits. */
  next(): Waiter | undefined;
  /** Removes a waiter from anywhere in its line. */
  leave(line: string, waiter: Waiter): void;
}

/** @param maxWaiting the largest number of waiters in all lines together */
export function createFairLines<Waiter>(maxWaiting: number): FairLines<Waiter> {
  /** In the order in which the lines are served. No line is empty. */
  const lines = new Map<string, Waiter[]>();
  let waiting = 0;

  const longest = (): Waiter[] => {
    let found: Waiter[] = [];
    for (const line of lines.values()) if (line.length > found.length) found = line;
    return found;
  };
  return {
    join(name, waiter) {
      const line = lines.get(name) ?? [];
      let leaving: Waiter | null = null;
      if (waiting < maxWaiting) waiting += 1;
      else {
        const crowded = longest();
        if (crowded.length <= line.length + 1) return waiter;
        leaving = crowded.pop() ?? null;
      }
      line.push(waiter);
      lines.set(name, line);
      return leaving;
    },
    next() {
      for (const [name, line] of lines) {
        const first = line.shift();
        lines.delete(name);
        if (line.length > 0) lines.set(name, line);
        waiting -= 1;
        return first;
      }
      return undefined;
    },
    leave(name, waiter) {
      const line = lines.get(name);
      const index = line?.indexOf(waiter) ?? -1;
      if (line === undefined || index === -1) return;
      line.splice(index, 1);
      if (line.length === 0) lines.delete(name);
      waiting -= 1;
    },
  };
}
