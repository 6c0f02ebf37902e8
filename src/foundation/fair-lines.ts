/** Room to wait in, shared out by line: whoever sends many stands in one line, which makes way for the others. */
export interface FairLines<Waiter> {
  /**
   * Lets one more wait at the end of a line. When all room is taken, the newest of the longest line goes, unless
   * the newcomer's line would be as long.
   *
   * @returns who has no room any more, which may be the newcomer; null if there was room.
   */
  join(line: string, waiter: Waiter): Waiter | null;
  /** Takes the first of the line that comes next; undefined when nobody waits. */
  next(): Waiter | undefined;
  /** Takes somebody out, wherever they stand. */
  leave(line: string, waiter: Waiter): void;
}

/** @param maxWaiting in all lines together. */
export function createFairLines<Waiter>(maxWaiting: number): FairLines<Waiter> {
  /** The next line comes first; none is empty. */
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
