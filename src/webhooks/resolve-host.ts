import { lookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { callbackify, promisify } from "node:util";
import { findAddressRefusal, type GuardPolicy } from "./address-guard.ts";

/** Every address of a host name, as the machine's own resolver has them; rejects with `ENOTFOUND` and the like. */
export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

const lookupAll: ResolveHost = (host) => promisify(lookup)(host, { all: true });

/** A name that took longer than this waits in the line of slow names from then on. */
const SLOW_MS = 1000;
/** Most names known to be slow; all are forgotten beyond this. */
const MAX_SLOW = 1000;

/**
 * The machine's resolver with one question in flight for each name. It uses half of the process's few threads for such work,
 * usually two. Names whose servers hang share one of them, so that the other is free for names that answer.
 */
export function createHostResolver(ask: ResolveHost = lookupAll): ResolveHost {
  const inFlight = new Map<string, Promise<readonly LookupAddress[]>>();
  const slow = new Set<string>();
  let slowTurn: Promise<unknown> = Promise.resolve();

  const askTimed: ResolveHost = async (host) => {
    const startedAt = performance.now();
    try {
      return await ask(host);
    } finally {
      slow.delete(host);
      if (slow.size >= MAX_SLOW) slow.clear();
      if (performance.now() - startedAt > SLOW_MS) slow.add(host);
    }
  };
  const askInTurn: ResolveHost = (host) => {
    const asked = slowTurn.then(() => askTimed(host));
    slowTurn = asked.catch(() => undefined);
    return asked;
  };
  return (host) => {
    const running = inFlight.get(host);
    if (running) return running;
    const asked = (slow.has(host) ? askInTurn(host) : askTimed(host)).finally(() => inFlight.delete(host));
    inFlight.set(host, asked);
    return asked;
  };
}

/** The error of a connection that was not made: `code` is `EBLOCKED`. */
export function refusedAddress(host: string, address: string, refusal: string): Error {
  const where = host === address ? address : `${host} is ${address}, and that`;
  return Object.assign(new Error(`${where} is a ${refusal} address`), { code: "EBLOCKED" });
}

/** A `lookup` for sockets that answers with permitted addresses only, and fails with `EBLOCKED` if there are none. */
export function createGuardedLookup(policy: GuardPolicy, resolveHost: ResolveHost): LookupFunction {
  const lookupPermitted = callbackify(async (host: string) => {
    const answers = await resolveHost(host);
    const permitted = answers.filter(({ address }) => findAddressRefusal(address, host, policy) === null);
    if (permitted.length > 0) return permitted;
    const refused = answers[0]?.address ?? "nothing";
    throw refusedAddress(host, refused, findAddressRefusal(refused, host, policy) ?? "unknown");
  });
  return (host, options, callback) => {
    lookupPermitted(host, (error, permitted) => {
      const [first] = permitted ?? [];
      if (error || !first) callback(error, "");
      else if (options.all) callback(null, permitted);
      else callback(null, first.address, first.family);
    });
  };
}

/**
 * The guard's result for a receiver before anything is sent: the refusal's message if every address of the host is refused; null
 * if one may be reached or the name cannot be resolved now.
 */
export async function findHostRefusal(
  host: string,
  policy: GuardPolicy,
  resolveHost: ResolveHost,
): Promise<string | null> {
  const literal = isIP(host) === 0 ? [] : [{ address: host }];
  const answers = literal.length > 0 ? literal : await resolveHost(host).catch(() => []);
  const refusals = answers.map(({ address }) => ({
    address,
    refusal: findAddressRefusal(address, host, policy),
  }));
  const [first] = refusals;
  if (!first || refusals.some(({ refusal }) => refusal === null)) return null;
  return refusedAddress(host, first.address, first.refusal ?? "").message;
}
