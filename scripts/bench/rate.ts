/** How fast this process did something that it did many times. */
export interface Rate {
  readonly perSecond: number;
  /** Processor time of this process for one: steadier than the rate on a machine with other work. */
  readonly processorUs: number;
}

/** @param count how many `work` does. */
export async function measureRate(count: number, work: () => Promise<void>): Promise<Rate> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  const perSecond = count / ((performance.now() - startedAt) / 1000);
  return { perSecond, processorUs: (user + system) / count };
}
