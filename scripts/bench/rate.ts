/** How fast this process did the same work many times. */
export interface Rate {
  readonly perSecond: number;
  /** Processor time of this process for one piece of work, in microseconds. It is steadier than the rate on a machine with other work. */
  readonly processorUs: number;
}

/** Measures the work. @param count the number of pieces of work that `work` does */
export async function measureRate(count: number, work: () => Promise<void>): Promise<Rate> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  const perSecond = count / ((performance.now() - startedAt) / 1000);
  return { perSecond, processorUs: (user + system) / count };
}
