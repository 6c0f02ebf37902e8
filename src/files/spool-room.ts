/** Whoever sends bytes: one address (IPv6: its /64), or one secret key. */
export interface Uploader {
  readonly unit: string;
  /** Many clients may have the address of a proxy that is not named. */
  readonly kind: "client" | "maybe a proxy" | "key";
}

/** Bytes that wait in memory, of all posts together. */
const MAX_MEMORY_BYTES = 16_777_216;
/** One address never takes what belongs to all. */
const CLIENT_SHARE = 1 / 8;
const PROXY_SHARE = 1 / 2;

/** The room in which the files of posts wait until they are stored. */
export class SpoolRoom {
  readonly #totalBytes: number;
  readonly #leastShareBytes: number;
  readonly #held = new Map<string, number>();
  #taken = 0;
  #inMemory = 0;

  /** @param leastShareBytes one post of the largest size, for which everybody has room. */
  constructor(totalBytes: number, leastShareBytes: number) {
    this.#totalBytes = totalBytes;
    this.#leastShareBytes = leastShareBytes;
  }

  /** Bytes that wait now. */
  get takenBytes(): number {
    return this.#taken;
  }

  /** Null if there was room; otherwise who takes it, and nothing was taken. */
  take(sender: Uploader, bytes: number): "this client" | "everybody" | null {
    const crowd = this.crowdFor(sender, bytes);
    if (crowd !== null) return crowd;
    this.#held.set(sender.unit, (this.#held.get(sender.unit) ?? 0) + bytes);
    this.#taken += bytes;
    return null;
  }

  /** Who takes the room that these bytes would need; null if there is room. */
  crowdFor({ unit, kind }: Uploader, bytes: number): "this client" | "everybody" | null {
    const share = this.#totalBytes * (kind === "client" ? CLIENT_SHARE : PROXY_SHARE);
    if ((this.#held.get(unit) ?? 0) + bytes > Math.max(share, this.#leastShareBytes)) return "this client";
    return this.#taken + bytes > this.#totalBytes ? "everybody" : null;
  }

  give({ unit }: Uploader, bytes: number): void {
    const left = (this.#held.get(unit) ?? 0) - bytes;
    if (left > 0) this.#held.set(unit, left);
    else this.#held.delete(unit);
    this.#taken -= bytes;
  }

  /** Whether these bytes may wait in memory. They are counted until {@link leaveMemory}. */
  enterMemory(bytes: number): boolean {
    if (this.#inMemory + bytes > MAX_MEMORY_BYTES) return false;
    this.#inMemory += bytes;
    return true;
  }

  leaveMemory(bytes: number): void {
    this.#inMemory -= bytes;
  }
}
