import type { Crowd } from "../../files/spool-room.ts";
import { addressUnit, isPrivate } from "../../foundation/ip-address.ts";

/** Counts of a server's shared resources: the total, or what one client or all clients hold. */
export interface Holdings {
  /** The number of open connections. */
  sockets: number;
  /** The number of requests that began and have no answer yet. */
  requests: number;
  /** The number of those requests whose bodies have arrived. */
  answering: number;
  /** Bytes of the bodies of all these requests, by their announced length. */
  bodyBytes: number;
  /** Bytes of answers that are ready and that the clients have not taken. */
  answerBytes: number;
}

/** A client address (IPv6: its /64) or a secret key, with what it holds. */
export interface Holder {
  readonly unit: string;
  /** `maybe a proxy` is an address behind which there may be many clients; `key` is a secret key, which one owner has. */
  readonly kind: "client" | "maybe a proxy" | "key";
  readonly held: Holdings;
  readonly most: Readonly<Holdings>;
}

export interface Shares {
  /** @param address the canonical address */
  of(address: string): Holder;
  ofKey(keyId: string): Holder;
  /** @param by the change, which may be negative */
  add(holder: Holder, what: keyof Holdings, by: number): void;
  /** Whether the holder has more than its share. */
  isOver(holder: Holder, what: keyof Holdings): boolean;
  /** Whether all holders together have more than the server's total. */
  isFull(what: keyof Holdings): boolean;
  /** Whether the only limit that the holder has reached is its share of requests being answered, while the server as a whole has room. */
  isAnsweringMost(holder: Holder): boolean;
  /** Who holds the room that the holder's newest request needs, which is already counted; null if there is room. */
  crowdOf(holder: Holder): Crowd | null;
}

/** One client address can never use up what all clients share. */
const CLIENT_SHARE = 1 / 8;
/**
 * If the configuration does not name the operator's own proxy, that has one address for all its clients. A backend with a secret key may be
 * on the same machine as the proxy or as other backends.
 */
const PROXY_SHARE = 1 / 2;

/** Counts what each client address and key holds of `total`. A holder is forgotten when it holds nothing. */
export function createShares(total: Readonly<Holdings>): Shares {
  const clientMost = scale(total, CLIENT_SHARE);
  const proxyMost = scale(total, PROXY_SHARE);
  const all = nothing();
  const holders = new Map<string, Holder>();
  const add = (unit: string, kind: Holder["kind"]): Holder => {
    const holder = { unit, kind, held: nothing(), most: kind === "client" ? clientMost : proxyMost };
    holders.set(unit, holder);
    return holder;
  };
  return {
    of(address) {
      const unit = addressUnit(address);
      return holders.get(unit) ?? add(unit, isPrivate(address) ? "maybe a proxy" : "client");
    },
    ofKey(keyId) {
      const unit = `key ${keyId}`;
      return holders.get(unit) ?? add(unit, "key");
    },
    add({ unit, held }, what, by) {
      held[what] += by;
      all[what] += by;
      if (by < 0 && isNothing(held)) holders.delete(unit);
    },
    isOver: ({ held, most }, what) => held[what] > most[what],
    isFull: (what) => all[what] > total[what],
    isAnsweringMost: ({ held, most }) =>
      held.answering >= most.answering && held.requests <= most.requests && held.bodyBytes <= most.bodyBytes,
    crowdOf({ held, most }) {
      if (isCrowded(held, most)) return "this client";
      return isCrowded(all, total) ? "everybody" : null;
    },
  };
}

/** Whether one more request being answered would exceed a limit. */
function isCrowded(held: Readonly<Holdings>, most: Readonly<Holdings>): boolean {
  return held.requests > most.requests || held.bodyBytes > most.bodyBytes || held.answering >= most.answering;
}

function scale(total: Readonly<Holdings>, share: number): Holdings {
  return {
    sockets: total.sockets * share,
    requests: total.requests * share,
    answering: total.answering * share,
    bodyBytes: total.bodyBytes * share,
    answerBytes: total.answerBytes * share,
  };
}

function nothing(): Holdings {
  return { sockets: 0, requests: 0, answering: 0, bodyBytes: 0, answerBytes: 0 };
}

function isNothing({ sockets, requests, answerBytes }: Holdings): boolean {
  return sockets === 0 && requests === 0 && answerBytes === 0;
}
