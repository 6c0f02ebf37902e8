/** Posts of one network in the last ten minutes, in this process's memory: a restart forgets them. */
export interface BurstMemory {
  /** Counts a post and returns how many there were, this one included, and how many endpoints they went to. */
  note(network: string, endpointId: string, now: number): { posts: number; endpoints: number };
}

const WINDOW_MS = 600_000;
/** Posts remembered of one network; more say no more. */
const MAX_POSTS = 30;
/** Networks remembered; the one that was quiet longest is forgotten. */
const MAX_NETWORKS = 20_000;

export function createBurstMemory(): BurstMemory {
  const networks = new Map<string, { at: number; endpointId: string }[]>();
  return {
    note(network, endpointId, now) {
      const recent = (networks.get(network) ?? []).filter(({ at }) => now - at < WINDOW_MS && at <= now);
      recent.push({ at: now, endpointId });
      if (recent.length > MAX_POSTS) recent.shift();
      networks.delete(network);
      const quietest = networks.size >= MAX_NETWORKS ? networks.keys().next().value : undefined;
      if (quietest !== undefined) networks.delete(quietest);
      networks.set(network, recent);
      return { posts: recent.length, endpoints: new Set(recent.map((post) => post.endpointId)).size };
    },
  };
}
