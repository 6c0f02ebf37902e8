import type { Crowd } from "../files/spool-room.ts";
import { addressUnit, isPrivate } from "../foundation/ip-address.ts";

/** The shared resources of a server: all of them, or what one client or all clients hold. */
export interface Holdings {
  /** Open connections. */
  sockets: number;
  /** Requests that began and have no answer yet. */
  requests: number;
  /** Requests among those whose bodies have arrived. */
  answering: number;
  /** Bytes of the bodies of those requests, by their announced length. */
  bodyBytes: number;
  /** Bytes of answers that are ready and that their clients have not taken. */
  answerBytes: number;
}

/** One client address (IPv6: its /64), or one secret key, with what it holds. */
export interface Holder {
  readonly unit: string;
  /** Of an address that may be a proxy's, many clients; of a key, its owner alone. */
  readonly kind: "client" | "maybe a proxy" | "key";
  readonly held: Holdings;
  readonly most: Readonly<Holdings>;
}

export interface Shares {
  /** @param address canonical */
  of(address: string): Holder;
  ofKey(keyId: string): Holder;
  /** @param by may be negative */
  add(holder: Holder, what: keyof Holdings, by: number): void;
  /** Whether the holder has more than its share. */
  isOver(holder: Holder, what: keyof Holdings): boolean;
  /** Whether all have more than there is. */
  isFull(what: keyof Holdings): boolean;
  /** Whether only as many are being answered as the holder may have, and everything else has room. */
  isAnsweringMost(holder: Holder): boolean;
  /** Null while there is a place for the holder's requests, the newest counted already. */
  crowdOf(holder: Holder): Crowd | null;
}

/** One client address never takes what belongs to all. */
const CLIENT_SHARE = 1 / 8;
/**
 * The operator's own proxy, if the configuration does not name it, has one address for all its clients; a backend with a secret key may
 * be on the same machine as that, or as other backends.
 */
const PROXY_SHARE = 1 / 2;

/** Counts what each client address holds of `total`, as long as it holds something. */
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

/** Compares with one more request than are being answered. */
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
