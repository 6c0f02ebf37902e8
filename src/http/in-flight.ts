import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** The requests that a server has under way now. */
export interface InFlight {
  /** Those that began and have no answer yet. */
  unanswered(): number;
  /** Of those, the ones whose bodies are there. */
  answering(): number;
}

interface Counts {
  /** Requests whose answers clients have not taken, whether these are ready or not. */
  open: number;
  unanswered: number;
  answering: number;
}

/** A closed socket owes nothing any more. */
interface SocketCounts extends Counts {
  isClosed: boolean;
}

interface Flight {
  readonly counts: SocketCounts;
  stage: "arriving" | "answering" | "answered";
}

declare module "fastify" {
  interface FastifyRequest {
    flight: Flight | null;
  }
}

/**
 * Answers that are ready and that clients have not taken, the largest for strangers some 64 KiB each. While there are more, a client that
 * has one to take and asks for the next is cut off: thousands of questions fit into one packet, and their answers into
 * no memory.
 */
const MAX_UNTAKEN = 256;

/**
 * Counts requests from their first hook on, and tells `onEnd` of each: when its answer is taken or its client has left.
 * Were answers counted until clients read them, a few hundred that read nothing would keep everybody else out.
 *
 * A client may leave at any moment. Of the answers that a closed socket owes, Node only tells the first one, so what
 * is left is counted by socket. One listener does it all: with a second one for the same event of an answer, the engine
 * often kept 5 KB of each request until it collected old objects, which cost a post 10 microseconds.
 *
 * @param onEnd its last argument is the time since the request began, in milliseconds.
 */
export function followRequests(
  server: FastifyInstance,
  onEnd: (request: FastifyRequest, reply: FastifyReply, ms: number) => void,
): InFlight {
  const { all, of } = countBySocket(server);
  server.decorateRequest("flight", null);
  server.addHook("onRequest", (request, reply, done) => {
    const startedAt = performance.now();
    const counts = of(request.raw.socket);
    if (untaken(all) >= MAX_UNTAKEN && untaken(counts) > 0) {
      request.raw.socket.destroy();
      return;
    }
    const flight: Flight = { counts, stage: "arriving" };
    request.flight = flight;
    add(flight, "open", 1);
    add(flight, "unanswered", 1);
    reply.raw.once("close", () => {
      answered(flight);
      add(flight, "open", -1);
      onEnd(request, reply, performance.now() - startedAt);
    });
    done();
  });
  server.addHook("preHandler", ({ flight }, _reply, done) => {
    if (flight !== null) {
      flight.stage = "answering";
      add(flight, "answering", 1);
    }
    done();
  });
  server.addHook("onSend", ({ flight }, _reply, payload, done) => {
    if (flight !== null) answered(flight);
    done(null, payload);
  });
  return { unanswered: () => all.unanswered, answering: () => all.answering };

  function add({ counts }: Flight, what: keyof Counts, by: number): void {
    if (counts.isClosed) return;
    counts[what] += by;
    all[what] += by;
  }

  function answered(flight: Flight): void {
    if (flight.stage === "answered") return;
    add(flight, "unanswered", -1);
    if (flight.stage === "answering") add(flight, "answering", -1);
    flight.stage = "answered";
  }
}

function untaken({ open, unanswered }: Counts): number {
  return open - unanswered;
}

/** What all sockets owe together, and what each does. */
function countBySocket(server: FastifyInstance): {
  readonly all: Counts;
  readonly of: (socket: Socket) => SocketCounts;
} {
  const all = { open: 0, unanswered: 0, answering: 0 };
  const bySocket = new Map<Socket, SocketCounts>();
  server.server.on("connection", (socket: Socket) => {
    const counts = { open: 0, unanswered: 0, answering: 0, isClosed: false };
    bySocket.set(socket, counts);
    socket.once("close", () => {
      counts.isClosed = true;
      all.open -= counts.open;
      all.unanswered -= counts.unanswered;
      all.answering -= counts.answering;
      bySocket.delete(socket);
    });
  });
  // A request without a connection is a test's own.
  return {
    all,
    of: (socket) => bySocket.get(socket) ?? { open: 0, unanswered: 0, answering: 0, isClosed: true },
  };
}
