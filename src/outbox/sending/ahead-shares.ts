import type { Lane } from "./lane.ts";
import { roomFor } from "./slots.ts";

/** The limits of what may be claimed ahead for all recipients together. */
interface AheadBounds {
  readonly deliveries: number;
  /** UTF-8 bytes of the bodies. */
  readonly bytes: number;
}

interface OfWorkspace {
  deliveries: number;
  bytes: number;
  /** The number of lanes for which more is claimed in this round. */
  lanes: number;
}

/** Shares out what a round may claim ahead among workspaces. If there are several workspaces, none gets more than half. */
export class AheadShares {
  readonly #bounds: AheadBounds;
  readonly #isShared: boolean;
  readonly #byWorkspace = new Map<string, OfWorkspace>();
  #deliveries = 0;
  #bytes = 0;
  /** The number of workspaces for which more is claimed in this round. */
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

  /** The number of deliveries that may still be claimed for this lane. */
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

  /**
   * The largest number of UTF-8 bytes to claim for this lane. Call it after {@link AheadShares.take} was called for all lanes: workspaces
   * get equal parts of the free bytes, and the lanes of a workspace equal parts of its part.
   */
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
