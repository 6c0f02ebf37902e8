import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { clientAddress, type ProxyTrust } from "./client-address.ts";
import { type Connection, followConnections, giveTo } from "./connections.ts";
import type { Crowd, Holder, Shares } from "./shares.ts";

/** The requests that a server has under way now. */
export interface InFlight {
  /** Who takes the place that a request needs which has just begun; null when there is one. */
  crowdedBy(request: FastifyRequest): Crowd | null;
  /** Those whose bodies may still be on their way. */
  arriving(): Iterable<FastifyRequest>;
}

export interface InFlightParts extends ProxyTrust {
  readonly shares: Shares;
  readonly bodyLimitBytes: number;
  /** Told of each request when its answer is taken or its client has left; `ms` is the time since it began. */
  readonly onEnd: (request: FastifyRequest, reply: FastifyReply, ms: number) => void;
}

/** What a request holds. */
export interface Flight {
  readonly request: FastifyRequest;
  readonly connection: Connection;
  readonly holder: Holder;
  readonly bodyBytes: number;
  answerBytes: number;
  stage: "arriving" | "answering" | "answered" | "over";
  /** Set while it waits for its turn. */
  proceed: (() => void) | null;
}

/** Requests whose answers are ready and not taken, the oldest first. */
type Untaken = Set<Flight>;

declare module "fastify" {
  interface FastifyRequest {
    flight: Flight | null;
    /** Canonical. */
    clientAddress: string;
  }
}

/**
 * Counts what requests hold from their first hook on, by the address of their client. The requests of a connection are
 * done one after the other: each waits until the answer before it is taken, because thousands of questions fit into one
 * packet, and their answers into no memory.
 *
 * A client may leave at any moment. Of the answers that a closed socket owes, Node only tells the first one, so a closed
 * connection gives back what all its requests hold. One listener does it all: with a second one for the same event of an
 * answer, the engine often kept 5 KB of each request until it collected old objects, which cost a post 10 microseconds.
 */
export function followRequests(server: FastifyInstance, parts: InFlightParts): InFlight {
  const { shares, onEnd } = parts;
  const untaken: Untaken = new Set();
  const connections = followConnections(server, shares, parts.trustedProxies, ({ flights }) => {
    while (flights[0] !== undefined) end(shares, untaken, flights[0]);
  });
  server.decorateRequest("flight", null);
  server.decorateRequest("clientAddress", "");
  server.addHook("onRequest", (request, reply, done) => {
    const startedAt = performance.now();
    const connection = connections.get(request.raw.socket);
    // Node goes on with a packet that it is reading when its connection is closed.
    if (connection === undefined || connection.socket.destroyed) return;
    const flight = begin(parts, connection, request);
    reply.raw.once("close", () => {
      end(shares, untaken, flight);
      onEnd(request, reply, performance.now() - startedAt);
    });
    takeTurn(shares, flight, done);
  });
  server.addHook("preHandler", ({ flight }, _reply, done) => {
    if (flight?.stage === "arriving") {
      flight.stage = "answering";
      shares.add(flight.holder, "answering", 1);
    }
    done();
  });
  server.addHook("onSend", ({ flight }, _reply, payload, done) => {
    if (flight !== null && flight.stage !== "over") {
      answer(shares, flight);
      keepAnswer(shares, untaken, flight, sizeOf(payload));
    }
    done(null, payload);
  });
  return {
    crowdedBy({ flight }) {
      return flight === null ? null : shares.crowdOf(flight.holder);
    },
    *arriving() {
      for (const { flights } of connections.values())
        if (flights[0]?.stage === "arriving") yield flights[0].request;
    },
  };
}

function begin(parts: InFlightParts, connection: Connection, request: FastifyRequest): Flight {
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
    stage: "arriving",
    proceed: null,
  };
  request.flight = flight;
  connection.flights.push(flight);
  return flight;
}

/** Goes on at once, or when the requests before it on its connection are over; cut off when there is no place to wait in. */
function takeTurn(shares: Shares, flight: Flight, proceed: () => void): void {
  const { socket, flights } = flight.connection;
  const isFirst = flights.length === 1;
  if (shares.isOver(flight.holder, "sockets") || (!isFirst && shares.crowdOf(flight.holder) !== null)) {
    socket.destroy();
    return;
  }
  if (isFirst) return proceed();
  flight.proceed = () => {
    if (!socket.destroyed) proceed();
  };
}

/** It holds no place and no body any more. */
function answer(shares: Shares, flight: Flight): void {
  const { holder, stage, bodyBytes } = flight;
  if (stage !== "arriving" && stage !== "answering") return;
  if (stage === "answering") shares.add(holder, "answering", -1);
  shares.add(holder, "bodyBytes", -bodyBytes);
  shares.add(holder, "requests", -1);
  flight.stage = "answered";
}

/**
 * An answer that its client may leave in memory. When the client has more than its share there, or all have more than
 * there is, those are cut off who had the longest time to take theirs.
 */
function keepAnswer(shares: Shares, untaken: Untaken, flight: Flight, bytes: number): void {
  const { holder } = flight;
  shares.add(holder, "answerBytes", bytes - flight.answerBytes);
  flight.answerBytes = bytes;
  untaken.add(flight);
  if (!shares.isOver(holder, "answerBytes") && !shares.isFull("answerBytes")) return;
  for (const older of untaken) {
    if (older === flight) return;
    const isGreedy = older.holder === holder && shares.isOver(holder, "answerBytes");
    if (isGreedy || shares.isFull("answerBytes")) cutOff(shares, untaken, older);
  }
}

function cutOff(shares: Shares, untaken: Untaken, flight: Flight): void {
  flight.connection.socket.destroy();
  end(shares, untaken, flight);
}

/** Its answer is taken, or its client has left. */
function end(shares: Shares, untaken: Untaken, flight: Flight): void {
  if (flight.stage === "over") return;
  const { connection, holder, request } = flight;
  answer(shares, flight);
  flight.stage = "over";
  untaken.delete(flight);
  shares.add(holder, "answerBytes", -flight.answerBytes);
  connection.flights.splice(connection.flights.indexOf(flight), 1);
  const [next] = connection.flights;
  // The rest of a body still takes up the connection.
  if (next === undefined && request.raw.complete) giveTo(shares, connection, connection.peer);
  next?.proceed?.();
}

/** As much as a body may become. */
function announcedBytes({ headers }: FastifyRequest, limitBytes: number): number {
  if (headers["transfer-encoding"] !== undefined) return limitBytes;
  return Math.min(Number(headers["content-length"] ?? 0), limitBytes);
}

function sizeOf(payload: unknown): number {
  return typeof payload === "string" || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
}
