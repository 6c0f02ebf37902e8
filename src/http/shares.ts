import { addressUnit, isPrivate } from "../foundation/ip-address.ts";

/** What a server has to give, and what its clients or one of them hold of it. */
export interface Holdings {
  /** Open connections. */
  sockets: number;
  /** Requests that began and have no answer yet. */
  requests: number;
  /** Of those, the ones whose bodies are there. */
  answering: number;
  /** Of the bodies of those requests, as long as they were announced. */
  bodyBytes: number;
  /** Of answers that are ready and that their clients have not taken. */
  answerBytes: number;
}

/** One client address, an IPv6 one by its /64, with what it holds. */
export interface Holder {
  readonly unit: string;
  readonly held: Holdings;
  readonly most: Readonly<Holdings>;
}

/** Who holds so much that there is no place for one more request. */
export type Crowd = "this client" | "everybody";

export interface Shares {
  /** @param address canonical */
  of(address: string): Holder;
  /** @param by may be negative */
  add(holder: Holder, what: keyof Holdings, by: number): void;
  /** Whether the holder has more than its share. */
  isOver(holder: Holder, what: keyof Holdings): boolean;
  /** Whether all have more than there is. */
  isFull(what: keyof Holdings): boolean;
  /** Null while there is a place for the holder's requests, the newest counted already. */
  crowdOf(holder: Holder): Crowd | null;
}

/** One client address never takes what belongs to all. */
const CLIENT_SHARE = 1 / 8;
/** A proxy of one's own that the configuration does not name has one address for all its clients. */
const PROXY_SHARE = 1 / 2;

/** Counts what each client address holds of `total`, as long as it holds something. */
export function createShares(total: Readonly<Holdings>): Shares {
  const clientMost = scale(total, CLIENT_SHARE);
  const proxyMost = scale(total, PROXY_SHARE);
  const all = nothing();
  const holders = new Map<string, Holder>();
  return {
    of(address) {
      const unit = addressUnit(address);
      const known = holders.get(unit);
      if (known !== undefined) return known;
      const holder = { unit, held: nothing(), most: isPrivate(address) ? proxyMost : clientMost };
      holders.set(unit, holder);
      return holder;
    },
    add({ unit, held }, what, by) {
      held[what] += by;
      all[what] += by;
      if (by < 0 && isNothing(held)) holders.delete(unit);
    },
    isOver: ({ held, most }, what) => held[what] > most[what],
    isFull: (what) => all[what] > total[what],
    crowdOf({ held, most }) {
      if (isCrowded(held, most)) return "this client";
      return isCrowded(all, total) ? "everybody" : null;
    },
  };
}

/** With one request more than are being answered. */
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
