import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Crowd } from "../../files/spool-room.ts";
import { clientAddress, type ProxyTrust } from "../client-address.ts";
import { type Connection, type Flight, trackConnections, giveTo } from "./connections.ts";
import type { Holder, Shares } from "./shares.ts";

/** The requests that a server has under way now. */
export interface InFlight {
  /**
   * Continues a new request if there is room for it. If many clients may share its address, a request with a proven secret key counts for
   * the key. It then waits if the key has as many requests being answered as its share allows.
   *
   * @param refuse called with who holds the room that the request needs.
   */
  enter(request: FastifyRequest, proceed: () => void, refuse: (crowd: Crowd) => void): void;
  /** The requests whose bodies may still be arriving. */
  arriving(): Iterable<FastifyRequest>;
  /** Counts the answers of another instance of the framework that serves late routes. */
  followAnswers(instance: FastifyInstance): void;
  /** Links the request object of another instance to the original one. */
  handOn(original: FastifyRequest, request: FastifyRequest): void;
}

export interface InFlightParts extends ProxyTrust {
  readonly shares: Shares;
  readonly bodyLimitBytes: number;
  /** The id of the request's secret key, if this process proved that key earlier; else null. */
  readonly provenKeyOf: (request: FastifyRequest) => string | null;
  /** Called for each request when its client has taken the answer or has left; `ms` is the time since the request began. */
  readonly onEnd: (request: FastifyRequest, reply: FastifyReply, ms: number) => void;
}

declare module "fastify" {
  interface FastifyRequest {
    flight: Flight | null;
    /** The canonical address. */
    clientAddress: string;
  }
}

/**
 * Counts by client address what requests hold, from their first hook on. The requests of a connection are handled one after the other: each
 * waits until the client has taken the answer before it, because thousands of requests fit into one packet, but their answers do not fit
 * into memory.
 *
 * A client may leave at any moment. For a closed socket Node reports only the first of its open answers, so a closed connection gives back
 * what all its requests hold. One listener does everything: with a second listener for the same event of an answer, the engine often kept 5
 * KB of each request until it collected old objects, which cost a post 10 microseconds.
 */
export function followRequests(server: FastifyInstance, parts: InFlightParts): InFlight {
  const { shares, onEnd, provenKeyOf } = parts;
  const lines = createKeyLines(shares);
  let answers = 0;
  const end = (flight: Flight): void => {
    lines.leave(flight);
    finish(shares, flight);
  };
  const connections = trackConnections(server, shares, parts.trustedProxies, (connection) => {
    while (connection.current !== null) end(connection.current);
  });
  const followAnswers = (instance: FastifyInstance): void => {
    instance.decorateRequest("flight", null);
    instance.decorateRequest("clientAddress", "");
    instance.addHook("preHandler", ({ flight }, _reply, done) => {
      if (flight?.stage === "arriving") {
        flight.stage = "answering";
        shares.add(flight.holder, "answering", 1);
      }
      done();
    });
    instance.addHook("onSend", ({ flight }, _reply, payload, done) => {
      if (flight !== null && flight.stage !== "over") {
        lines.leave(flight);
        const bytes = sizeOf(payload);
        shares.add(flight.holder, "answerBytes", bytes - flight.answerBytes);
        flight.answerBytes = bytes;
        flight.answerNumber = answers += 1;
        if (isTooMuch(shares, flight.holder)) cutOffOldest(shares, connections.values(), flight, end);
      }
      done(null, payload);
    });
  };
  followAnswers(server);
  server.addHook("onRequest", (request, reply, done) => {
    const startedAt = performance.now();
    const connection = connections.get(request.raw.socket);
    // After a connection is closed, Node still handles the rest of the packet that it is reading.
    if (connection === undefined || connection.socket.destroyed) return;
    const flight = begin(parts, connection, request, startedAt);
    reply.raw.on("close", () => {
      end(flight);
      onEnd(request, reply, performance.now() - startedAt);
    });
    enterWhenFree(shares, flight, done);
  });
  return {
    enter(request, proceed, refuse) {
      const { flight } = request;
      if (flight === null) return proceed();
      if (flight.holder.kind === "maybe a proxy") {
        const keyId = provenKeyOf(request);
        if (keyId !== null) moveTo(shares, flight, shares.ofKey(keyId));
      }
      lines.enter(flight, proceed, refuse);
    },
    *arriving() {
      for (const { current } of connections.values())
        if (current?.stage === "arriving" && current.request !== null) yield current.request;
    },
    followAnswers,
    handOn({ flight, clientAddress: address }, request) {
      request.flight = flight;
      request.clientAddress = address;
      if (flight !== null) flight.lateRoute = request.routeOptions.url;
    },
  };
}

function begin(
  parts: InFlightParts,
  connection: Connection,
  request: FastifyRequest,
  startedAt: number,
): Flight {
  const { shares, bodyLimitBytes } = parts;
  request.clientAddress = clientAddress(request.raw, parts);
  const holder = connection.peer ?? shares.of(request.clientAddress);
  giveTo(shares, connection, holder);
  const bodyBytes = announcedBytes(request, bodyLimitBytes);
  shares.add(holder, "requests", 1);
  shares.add(holder, "bodyBytes", bodyBytes);
  const flight: Flight = {
    request,
    connection,
    holder,
    bodyBytes,
    answerBytes: 0,
    answerNumber: 0,
    stage: "arriving",
    isUpload: false,
    startedAt,
    proceed: null,
    lateRoute: undefined,
  };
  request.flight = flight;
  if (connection.current === null) connection.current = flight;
  else connection.waiting.push(flight);
  return flight;
}

/** Continues at once, or after the earlier requests of the connection. If there is no room to wait, the connection is cut off. */
function enterWhenFree(shares: Shares, flight: Flight, proceed: () => void): void {
  const { socket, current } = flight.connection;
  const isFirst = current === flight;
  if (shares.isOver(flight.holder, "sockets") || (!isFirst && shares.crowdOf(flight.holder) !== null)) {
    socket.destroy();
    return;
  }
  if (isFirst) return proceed();
  flight.proceed = () => {
    if (!socket.destroyed) proceed();
  };
}

/** Counts a request whose body is arriving for another holder. Its connection still counts for its address. */
function moveTo(shares: Shares, flight: Flight, holder: Holder): void {
  shares.add(holder, "requests", 1);
  shares.add(holder, "bodyBytes", flight.bodyBytes);
  shares.add(flight.holder, "bodyBytes", -flight.bodyBytes);
  shares.add(flight.holder, "requests", -1);
  flight.holder = holder;
}

/**
 * The waiting lines of secret keys. A backend may send hundreds of posts at once with its key. Posts beyond the key's share of answers wait
 * before their bodies are read. They count against the key's share of requests, so at most as many wait as are being answered.
 */
function createKeyLines(shares: Shares) {
  const lines = new Map<Holder, { readonly flight: Flight; readonly enter: () => void }[]>();
  const next = (holder: Holder): void => {
    const line = lines.get(holder);
    let first = line?.shift();
    // Requests whose clients have left are skipped.
    while (first !== undefined && first.flight.stage !== "arriving") first = line?.shift();
    if (line?.length === 0) lines.delete(holder);
    first?.enter();
  };
  const enter = (flight: Flight, proceed: () => void, refuse: (crowd: Crowd) => void): void => {
    const { holder } = flight;
    const crowd = shares.crowdOf(holder);
    if (crowd === null) return proceed();
    if (crowd === "everybody" || holder.kind !== "key" || !shares.isAnsweringMost(holder))
      return refuse(crowd);
    const line = lines.get(holder) ?? [];
    const enterWhenFree = (): void => {
      if (flight.stage === "arriving") enter(flight, proceed, refuse);
      else next(holder);
    };
    line.push({ flight, enter: () => setImmediate(enterWhenFree) });
    lines.set(holder, line);
  };
  return {
    enter,
    /** Releases the slot of a request and lets the next request of its key enter. */
    leave(flight: Flight): void {
      const wasAnswering = flight.stage === "answering";
      answer(shares, flight);
      if (wasAnswering && flight.holder.kind === "key") next(flight.holder);
    },
  };
}

/** Releases the slot and the body bytes of a request. */
function answer(shares: Shares, flight: Flight): void {
  const { holder, stage, bodyBytes } = flight;
  if (stage !== "arriving" && stage !== "answering") return;
  if (stage === "answering") shares.add(holder, "answering", -1);
  shares.add(holder, "bodyBytes", -bodyBytes);
  shares.add(holder, "requests", -1);
  flight.stage = "answered";
}

function isTooMuch(shares: Shares, holder: Holder): boolean {
  return shares.isOver(holder, "answerBytes") || shares.isFull("answerBytes");
}

/**
 * Frees memory if a client has more bytes of answers than its share, or all together have too many. It cuts off the clients that have had
 * the longest time to take their answers, but never the newest answer.
 */
function cutOffOldest(
  shares: Shares,
  connections: Iterable<Connection>,
  { holder, answerNumber }: Flight,
  end: (flight: Flight) => void,
): void {
  const untaken = [...connections].flatMap(({ current }) => (current?.stage === "answered" ? [current] : []));
  for (const flight of untaken.sort((a, b) => a.answerNumber - b.answerNumber)) {
    if (flight.answerNumber === answerNumber || !isTooMuch(shares, holder)) return;
    if (flight.holder !== holder && !shares.isFull("answerBytes")) continue;
    flight.connection.socket.destroy();
    end(flight);
  }
}

/** Ends a request: its client has taken the answer or has left. Releases all that it holds. */
function finish(shares: Shares, flight: Flight): void {
  const { connection, holder, request } = flight;
  if (request === null) return;
  flight.stage = "over";
  flight.request = null;
  shares.add(holder, "answerBytes", -flight.answerBytes);
  if (connection.current !== flight)
    return void connection.waiting.splice(connection.waiting.indexOf(flight), 1);
  connection.current = connection.waiting.shift() ?? null;
  // A body that has not arrived whole still occupies the connection.
  if (connection.current === null && request.raw.complete) giveTo(shares, connection, connection.peer);
  connection.current?.proceed?.();
}

/** The largest number of bytes that the body may reach. */
function announcedBytes({ headers }: FastifyRequest, limitBytes: number): number {
  if (headers["transfer-encoding"] !== undefined) return limitBytes;
  return Math.min(Number(headers["content-length"] ?? 0), limitBytes);
}

function sizeOf(payload: unknown): number {
  if (typeof payload === "string" || Buffer.isBuffer(payload)) return Buffer.byteLength(payload);
  // The stream of a file says how many bytes it holds in memory.
  const { heldBytes } = (payload ?? {}) as { heldBytes?: unknown };
  return typeof heldBytes === "number" ? heldBytes : 0;
}
