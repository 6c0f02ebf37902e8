import { SingleFlight } from "../foundation/single-flight.ts";
import { lookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { callbackify, promisify } from "node:util";
import { workingFor } from "../foundation/work-for.ts";
import { findRefusal, type GuardPolicy } from "./address-guard.ts";
import { LookupSlots } from "./lookup-slots.ts";
import type { IsOwnAddress } from "./own-address.ts";

/** Resolves a host name to its addresses, as the machine does; rejects with `ENOTFOUND` and the like. */
export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

const lookupAll: ResolveHost = (host) => promisify(lookup)(host, { all: true });

/**
 * The largest number of addresses of a name that count. The name's owner can give it thousands, and each is checked before every
 * connection.
 */
const MAX_ADDRESSES = 32;

/** Shared by the whole process, because its threads for lookups are. */
const slotsOfProcess = new LookupSlots();

/** The machine's resolver, shared fairly among workspaces. Lookups of the same name for the same workspace are made once. */
export function createHostResolver(ask: ResolveHost = lookupAll, slots = slotsOfProcess): ResolveHost {
  const questions = new SingleFlight<readonly LookupAddress[]>();
  return (host) => {
    const workspace = workingFor();
    const run = () => slots.run({ host, workspace }, async () => (await ask(host)).slice(0, MAX_ADDRESSES));
    // The key has the workspace, because another workspace's lookup of the same name may wait in a line that does not move.
    return questions.run(run, `${workspace ?? ""} ${host}`);
  };
}

/** The error of a connection that was refused by the guard: `code` is `EBLOCKED`. */
export function refusedAddress(host: string, address: string, refusal: string): Error {
  const where = host === address ? address : `${host} is ${address}, and that`;
  return Object.assign(new Error(`${where} is a ${refusal} address`), { code: "EBLOCKED" });
}

/** An address, with the reason why the guard refuses it; null if it may be reached. */
interface CheckedAnswer {
  readonly answer: LookupAddress;
  readonly refusal: string | null;
}

function checkAnswers(
  answers: readonly LookupAddress[],
  host: string,
  policy: GuardPolicy,
  isOwn: IsOwnAddress,
): Promise<CheckedAnswer[]> {
  return Promise.all(
    answers.map(async (answer) => ({
      answer,
      refusal: await findRefusal(answer.address, host, policy, isOwn),
    })),
  );
}

/** A `lookup` for sockets that returns permitted addresses only, and fails with `EBLOCKED` if there are none. */
export function createGuardedLookup(
  policy: GuardPolicy,
  resolveHost: ResolveHost,
  isOwn: IsOwnAddress,
): LookupFunction {
  const lookupPermitted = callbackify(async (host: string) => {
    const checked = await checkAnswers(await resolveHost(host), host, policy, isOwn);
    const permitted = checked.filter(({ refusal }) => refusal === null).map(({ answer }) => answer);
    if (permitted.length > 0) return permitted;
    const [first] = checked;
    throw refusedAddress(host, first?.answer.address ?? "nothing", first?.refusal ?? "unknown");
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
 * Asks the guard about a receiver before anything is sent. Returns a message if every address of the host is refused; null if one may be
 * reached, or if the name cannot be resolved now.
 */
export async function findHostRefusal(
  host: string,
  policy: GuardPolicy,
  resolveHost: ResolveHost,
  isOwn: IsOwnAddress,
): Promise<string | null> {
  const checked = await checkHost(host, policy, resolveHost, isOwn);
  const [first] = checked;
  if (!first || checked.some(({ refusal }) => refusal === null)) return null;
  return refusedAddress(host, first.answer.address, first.refusal ?? "").message;
}

/** Whether the name of a receiver exists now, and one of its addresses may be reached. */
export async function mayReachHost(
  host: string,
  policy: GuardPolicy,
  resolveHost: ResolveHost,
  isOwn: IsOwnAddress,
): Promise<boolean> {
  const checked = await checkHost(host, policy, resolveHost, isOwn);
  return checked.some(({ refusal }) => refusal === null);
}

/** Checks every address of a receiver; returns none if its name cannot be resolved now. */
async function checkHost(
  host: string,
  policy: GuardPolicy,
  resolveHost: ResolveHost,
  isOwn: IsOwnAddress,
): Promise<CheckedAnswer[]> {
  const family = isIP(host);
  const answers = family === 0 ? await resolveHost(host).catch(() => []) : [{ address: host, family }];
  return checkAnswers(answers, host, policy, isOwn);
}
