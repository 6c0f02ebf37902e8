import { isIP } from "node:net";
import type { Dispatcher } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Client from "undici/lib/dispatcher/client.js";
import Pool from "undici/lib/dispatcher/pool.js";
import { type AllowedNetworks, findRefusal, plainHost, type GuardPolicy } from "./address-guard.ts";
import { OutgoingRequest } from "./outgoing-request.ts";
import { type IsOwnAddress, isOwnAddress, isWebPort, noOwnAddress } from "./own-address.ts";
import { createGuardedLookup, refusedAddress, type ResolveHost } from "./resolve-host.ts";
import { tolerateContinue } from "./tolerate-continue.ts";

/** The time that an idle connection is kept unless the receiver names a shorter time. */
const KEEP_ALIVE_MS = 4000;
/** The longest time that a receiver can ask to keep an idle connection. */
const KEEP_ALIVE_MAX_MS = 60_000;

export interface HttpSenderSettings {
  readonly allowed: AllowedNetworks;
  /** The time limit of one whole attempt: lookup, connecting, sending, and the head of the answer. */
  readonly timeoutMs: number;
  readonly resolveHost: ResolveHost;
  /** Asks the machine itself unless given. */
  readonly isOwn?: IsOwnAddress;
}

/** The connections for requests under one policy. */
export interface ReceiverConnections {
  readonly agent: Agent;
  /** Opens a dispatcher that has no connection yet. */
  readonly openFresh: (origin: string) => Client;
}

export function openConnections(policy: GuardPolicy, settings: HttpSenderSettings): ReceiverConnections {
  const options = {
    connect: createGuardedConnector(policy, settings),
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    // undici's timers start anew with every byte; only the one deadline of the attempt counts.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const openReuseAware = (origin: URL, clientOptions: object): Client =>
    new ReuseAwareClient(origin, clientOptions);
  const agent = new Agent({
    ...options,
    // The number of connections has no limit: the caller holds a slot, and waiting in here would use up the attempt's time.
    factory: (origin) => new Pool(origin, { ...options, factory: openReuseAware }),
  });
  return { agent, openFresh: (origin) => new Client(origin, options) };
}

/** Refuses addresses after name resolution, and also literals, which never reach a resolver; for http and https alike. */
function createGuardedConnector(policy: GuardPolicy, settings: HttpSenderSettings): buildConnector.connector {
  const { timeoutMs: timeout, resolveHost } = settings;
  const guardedBy = (isOwn: IsOwnAddress) => ({
    isOwn,
    connect: buildConnector({
      timeout,
      allowH2: false,
      lookup: createGuardedLookup(policy, resolveHost, isOwn),
    }),
  });
  const web = guardedBy(noOwnAddress);
  const other = guardedBy(settings.isOwn ?? isOwnAddress);
  return (options, callback) => {
    const host = plainHost(options.hostname);
    const { isOwn, connect } = isWebPort(options.port) ? web : other;
    const open = (): void =>
      connect(options, (...outcome) => {
        const [error, socket] = outcome;
        if (error === null) tolerateContinue(socket);
        callback(...outcome);
      });
    if (isIP(host) === 0) return open();
    const fail = (error: Error): void => callback(error, null);
    return void findRefusal(host, host, policy, isOwn)
      .then((refusal) => (refusal === null ? open() : fail(refusedAddress(host, host, refusal))))
      .catch(fail);
  };
}

/** Sets on each request whether its connection is reused. */
class ReuseAwareClient extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof OutgoingRequest) handler.isReused = this.stats.connected;
    return super.dispatch(options, handler);
  }
}
