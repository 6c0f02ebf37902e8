import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { InFlight } from "./in-flight.ts";

/**
 * A body that comes more slowly is ended: the slowest uplink of a phone, one slot of GPRS, carries 9 kbit/s, over four
 * times as much. Both are what Kestrel, the server of ASP.NET Core, has for request bodies unless configured.
 */
const MIN_BYTES_PER_SECOND = 240;
/** Time that a body has beyond that, for packets that were lost and are sent again. */
const GRACE_MS = 5000;
const CHECK_MS = 500;

/** When a body was first looked at, and what its connection had brought by then. */
interface Seen {
  readonly atMs: number;
  readonly bytesRead: number;
}

/** Tells `refuse` of each connection on which a body does not come on. */
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
      // One that is not read, because its key is being verified, cannot come on; a refused one has its answer.
      if (complete || readableFlowing !== true || !socket.writable) continue;
      const seen = bodies.get(request);
      if (seen === undefined) bodies.set(request, { atMs: now, bytesRead: socket.bytesRead });
      else if (isSlow(seen, now, socket.bytesRead)) refuse(socket);
    }
  };
  // After what has arrived is read: while the process did not run, nobody was slow.
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
