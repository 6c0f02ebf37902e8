import type { Lane } from "./lane.ts";
import { roomFor } from "./slots.ts";

/** What may be claimed ahead, of all recipients together. */
interface AheadBounds {
  readonly deliveries: number;
  /** UTF-8 bytes of their bodies. */
  readonly bytes: number;
}

interface OfWorkspace {
  deliveries: number;
  bytes: number;
  /** Lanes that get more. */
  lanes: number;
}

/** How much of what is claimed ahead is each workspace's, while a round shares out more. None has more than half, if there are several. */
export class AheadShares {
  readonly #bounds: AheadBounds;
  readonly #isShared: boolean;
  readonly #byWorkspace = new Map<string, OfWorkspace>();
  #deliveries = 0;
  #bytes = 0;
  /** Workspaces that get more. */
  #taking = 0;

  /** @param isShared whether there are several workspaces. */
  constructor(lanes: readonly Lane[], bounds: AheadBounds, isShared: boolean) {
    this.#bounds = bounds;
    this.#isShared = isShared;
    for (const lane of lanes) {
      if (lane.aheadCount === 0) continue;
      const own = this.#of(lane);
      const { aheadBytes } = lane;
      own.deliveries += lane.aheadCount;
      own.bytes += aheadBytes;
      this.#deliveries += lane.aheadCount;
      this.#bytes += aheadBytes;
    }
  }

  /** How many more may be claimed for this lane. */
  room(lane: Lane): number {
    const { deliveries: limit } = this.#bounds;
    const taken = this.#deliveries;
    return this.#isShared ? roomFor({ limit, taken, own: this.#of(lane).deliveries }, "half") : limit - taken;
  }

  take(lane: Lane, count: number): void {
    const own = this.#of(lane);
    own.deliveries += count;
    if (own.lanes === 0) this.#taking += 1;
    own.lanes += 1;
    this.#deliveries += count;
  }

  /** The largest number of bytes for this lane, once everything is taken: workspaces get equal parts of what is left, and lanes of these. */
  bytesFor(lane: Lane): number {
    const { bytes: limit } = this.#bounds;
    const own = this.#of(lane);
    const part = (limit - this.#bytes) / this.#taking;
    const most = this.#isShared ? Math.min(part, limit / 2 - own.bytes) : part;
    return Math.max(Math.floor(most / own.lanes), 0);
  }

  #of({ workspaceId }: Lane): OfWorkspace {
    const known = this.#byWorkspace.get(workspaceId);
    if (known !== undefined) return known;
    const none = { deliveries: 0, bytes: 0, lanes: 0 };
    this.#byWorkspace.set(workspaceId, none);
    return none;
  }
}
