import { BoundedMap } from "../foundation/bounded-map.ts";

/** The posts of each network in the last ten minutes. They are in this process's memory, so a restart forgets them. */
export interface BurstMemory {
  /** Counts a post. Returns the number of posts in the last ten minutes, with this one, and the number of endpoints that they went to. */
  note(network: string, endpointId: string, now: number): { posts: number; endpoints: number };
}

const WINDOW_MS = 600_000;
/** The largest number of posts that are remembered for one network; more would not change the result. */
const MAX_POSTS = 30;
/**
 * The largest number of networks that are remembered. The one that was quiet for the longest time is forgotten first, to the nearest
 * minute.
 */
const MAX_NETWORKS = 20_000;
const RANKED_EVERY_MS = 60_000;

/** The latest posts of a network, oldest first. */
interface Burst {
  readonly times: number[];
  readonly endpointIds: string[];
  /** When the network was last moved behind all others. */
  rankedAt: number;
}

export function createBurstMemory(): BurstMemory {
  const networks = new BoundedMap<string, Burst>(MAX_NETWORKS);
  const rank = (network: string, burst: Burst, now: number): void => {
    networks.delete(network);
    networks.set(network, burst);
    burst.rankedAt = now;
  };
  return {
    note(network, endpointId, now) {
      const burst = networks.get(network) ?? { times: [], endpointIds: [], rankedAt: -Infinity };
      forgetOthers(burst, now);
      burst.times.push(now);
      burst.endpointIds.push(endpointId);
      if (burst.times.length > MAX_POSTS) {
        burst.times.shift();
        burst.endpointIds.shift();
      }
      if (Math.abs(now - burst.rankedAt) >= RANKED_EVERY_MS) rank(network, burst, now);
      return { posts: burst.times.length, endpoints: countDifferent(burst.endpointIds) };
    },
  };
}

/** Drops posts older than ten minutes, and those whose time is in the future because the clock was set back. */
function forgetOthers({ times, endpointIds }: Burst, now: number): void {
  const [oldest = now] = times;
  if (now - oldest < WINDOW_MS && (times.at(-1) ?? now) <= now) return;
  let kept = 0;
  for (let index = 0; index < times.length; index += 1) {
    const at = times[index] ?? 0;
    if (now - at >= WINDOW_MS || at > now) continue;
    times[kept] = at;
    endpointIds[kept] = endpointIds[index] ?? "";
    kept += 1;
  }
  times.length = kept;
  endpointIds.length = kept;
}

function countDifferent(values: readonly string[]): number {
  let different = 0;
  for (let index = 0; index < values.length; index += 1) {
    if (values.indexOf(values[index] ?? "") === index) different += 1;
  }
  return different;
}
