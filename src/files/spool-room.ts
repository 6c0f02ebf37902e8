/** The sender of files: an IP address (of IPv6 its /64), or a secret key. */
export interface Uploader {
  readonly unit: string;
  /** `maybe a proxy` is an address that many clients may share, because it is a proxy that the configuration does not name. */
  readonly kind: "client" | "maybe a proxy" | "key";
}

/** The largest number of bytes of all posts that wait in memory. */
const MAX_MEMORY_BYTES = 16_777_216;
/** The largest share of the room for one address, so that one client cannot take all of it. */
const CLIENT_SHARE = 1 / 8;
const PROXY_SHARE = 1 / 2;

/**
 * For this time, room is reserved for bytes that a client announced and has not sent yet. After it only received bytes count, so that a
 * client that announces much and sends little does not keep the room from others.
 */
const RESERVED_MS = 10_000;

/** Who takes up the room that is missing. */
export type Crowd = "this client" | "everybody";

/** Room for a post that announced its length, for the bytes that have not arrived yet. */
export interface Reservation {
  readonly unit: string;
  readonly untilMs: number;
  /** The number of bytes that have not arrived yet. */
  leftBytes: number;
}

/** Counts the room in which the files of posts wait until they are stored. */
export class SpoolRoom {
  readonly #totalBytes: number;
  readonly #leastShareBytes: number;
  readonly #nowMs: () => number;
  /** The bytes of each unit, including reserved ones. */
  readonly #held = new Map<string, number>();
  /** The reservations that are still valid, the oldest first. */
  readonly #reservations = new Set<Reservation>();
  #reserved = 0;
  #taken = 0;
  #inMemory = 0;

  /**
   * @param leastShareBytes the size of the largest post, for which every sender has room.
   * @param nowMs reads a clock that never jumps, in milliseconds.
   */
  constructor(totalBytes: number, leastShareBytes: number, nowMs = () => performance.now()) {
    this.#totalBytes = totalBytes;
    this.#leastShareBytes = leastShareBytes;
    this.#nowMs = nowMs;
  }

  /** The number of bytes that wait now, without reserved ones. */
  get takenBytes(): number {
    return this.#taken;
  }

  /**
   * Reserves room for a post before its first byte is read: otherwise posts that arrive together would fill the room together, and none
   * could be stored. If there is no room, returns who takes it up.
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

  /** Frees the room that was not used. May be called again. */
  release(reservation: Reservation): void {
    this.#use(reservation, reservation.leftBytes);
    this.#reservations.delete(reservation);
  }

  /** Takes room; returns null if there was enough. Otherwise takes nothing and returns who takes it up. */
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

  /** Whether these bytes may wait in memory. If so, they count until {@link leaveMemory}. */
  enterMemory(bytes: number): boolean {
    if (this.#inMemory + bytes > MAX_MEMORY_BYTES) return false;
    this.#inMemory += bytes;
    return true;
  }

  leaveMemory(bytes: number): void {
    this.#inMemory -= bytes;
  }
}
