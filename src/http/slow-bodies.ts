import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { InFlight } from "./in-flight.ts";

/**
 * A slower body is ended. The slowest uplink of a phone, one slot of GPRS, carries 9 kbit/s, more than four times as much. Both
 * values are the defaults of Kestrel, the server of ASP.NET Core, for request bodies.
 */
const MIN_BYTES_PER_SECOND = 240;
/** Additional time for a body, for lost packets that are sent again. */
const GRACE_MS = 5000;
const CHECK_MS = 500;

/** When a body was first checked, and how much its connection had brought by then. */
interface Seen {
  readonly atMs: number;
  readonly bytesRead: number;
}

/** Calls `refuse` for each connection whose body is too slow. */
export function endSlowBodies(
  server: FastifyInstance,
  inFlight: InFlight,
  refuse: (socket: Socket) => void,
): void {
  const bodies = new WeakMap<FastifyRequest, Seen>();
  const look = (): void => {
    const now = performance.now();
    for (const request of inFlight.arriving()) {
      const { socket, complete, readableFlowing } = request.raw;
      // A body that is not read while its key is verified cannot advance; a refused one has its answer.
      if (complete || readableFlowing !== true || !socket.writable) continue;
      const seen = bodies.get(request);
      if (seen === undefined) bodies.set(request, { atMs: now, bytesRead: socket.bytesRead });
      else if (isSlow(seen, now, socket.bytesRead)) refuse(socket);
    }
  };
  // Only after the bytes that have arrived are read: while the process did not run, nobody was slow.
  const timer = setInterval(() => setImmediate(look), CHECK_MS);
  server.addHook("onClose", (_instance, done) => {
    clearInterval(timer);
    done();
  });
}

function isSlow(seen: Seen, nowMs: number, bytesRead: number): boolean {
  const dueMs = nowMs - seen.atMs - GRACE_MS;
  return bytesRead - seen.bytesRead < (dueMs / 1000) * MIN_BYTES_PER_SECOND;
}
