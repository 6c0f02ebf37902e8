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

/**
 * For this long, room is kept for what a client announced and has not sent. After it only what came counts: a client that announces
 * much and sends little must not keep the room from others.
 */
const RESERVED_MS = 10_000;

/** Says who holds what somebody else needs. */
export type Crowd = "this client" | "everybody";

/** Room for a post whose length was announced, of which a part is still to come. */
export interface Reservation {
  readonly unit: string;
  readonly untilMs: number;
  /** Bytes that are still to come. */
  leftBytes: number;
}

/** The room in which the files of posts wait until they are stored. */
export class SpoolRoom {
  readonly #totalBytes: number;
  readonly #leastShareBytes: number;
  readonly #nowMs: () => number;
  /** Bytes by unit, reserved ones too. */
  readonly #held = new Map<string, number>();
  /** Reservations that still count, the oldest first. */
  readonly #reservations = new Set<Reservation>();
  #reserved = 0;
  #taken = 0;
  #inMemory = 0;

  /**
   * @param leastShareBytes one post of the largest size, for which everybody has room.
   * @param nowMs a clock that never jumps.
   */
  constructor(totalBytes: number, leastShareBytes: number, nowMs = () => performance.now()) {
    this.#totalBytes = totalBytes;
    this.#leastShareBytes = leastShareBytes;
    this.#nowMs = nowMs;
  }

  /** Bytes that wait now. */
  get takenBytes(): number {
    return this.#taken;
  }

  /**
   * Keeps room for a post before its first byte is read: otherwise posts that come together fill the room together, and none of them
   * is stored. Returns who takes the room if there is none.
   */
  reserve(sender: Uploader, bytes: number): Reservation | Crowd {
    const crowd = this.#crowdFor(sender, bytes);
    if (crowd !== null) return crowd;
    const reservation = { unit: sender.unit, untilMs: this.#nowMs() + RESERVED_MS, leftBytes: bytes };
    this.#reservations.add(reservation);
    this.#reserved += bytes;
    this.#hold(sender.unit, bytes);
    return reservation;
  }

  /** Gives back what did not come. May be called again. */
  release(reservation: Reservation): void {
    this.#use(reservation, reservation.leftBytes);
    this.#reservations.delete(reservation);
  }

  /** Null if there was room; otherwise who takes it, and nothing was taken. */
  take(sender: Uploader, bytes: number, reservation: Reservation | null = null): Crowd | null {
    if (reservation !== null) this.#use(reservation, Math.min(bytes, reservation.leftBytes));
    const crowd = this.#crowdFor(sender, bytes);
    if (crowd !== null) return crowd;
    this.#hold(sender.unit, bytes);
    this.#taken += bytes;
    return null;
  }

  give({ unit }: Uploader, bytes: number): void {
    this.#hold(unit, -bytes);
    this.#taken -= bytes;
  }

  #crowdFor({ unit, kind }: Uploader, bytes: number): Crowd | null {
    this.#endOldReservations();
    const share = this.#totalBytes * (kind === "client" ? CLIENT_SHARE : PROXY_SHARE);
    if ((this.#held.get(unit) ?? 0) + bytes > Math.max(share, this.#leastShareBytes)) return "this client";
    return this.#taken + this.#reserved + bytes > this.#totalBytes ? "everybody" : null;
  }

  #endOldReservations(): void {
    const nowMs = this.#nowMs();
    for (const oldest of this.#reservations) {
      if (oldest.untilMs > nowMs) break;
      this.release(oldest);
    }
  }

  #use(reservation: Reservation, bytes: number): void {
    reservation.leftBytes -= bytes;
    this.#reserved -= bytes;
    this.#hold(reservation.unit, -bytes);
  }

  #hold(unit: string, bytes: number): void {
    const held = (this.#held.get(unit) ?? 0) + bytes;
    if (held > 0) this.#held.set(unit, held);
    else this.#held.delete(unit);
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
