import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { InFlight } from "./in-flight.ts";

/**
 * The slowest body that is accepted. The slowest uplink of a phone, one slot of GPRS, carries 9 kbit/s, more than four times as much. This
 * and {@link GRACE_MS} are the defaults of Kestrel, the server of ASP.NET Core, for request bodies.
 */
const MIN_BYTES_PER_SECOND = 240;
/** Additional time for a body, because lost packets are sent again. */
const GRACE_MS = 5000;
/** The time that an upload may stand still, because phones change their network while they send. */
const UPLOAD_GRACE_MS = 30_000;
const CHECK_MS = 500;

/** When a body was first checked, and how many bytes its connection had received by then. */
interface Seen {
  readonly atMs: number;
  readonly bytesRead: number;
}

/** How fast a body must arrive. */
interface Pace {
  /** The limit for a request whose body does not keep coming. */
  readonly timeoutMs: number;
  /** The limit for the whole request. */
  readonly steadyMs: number;
  readonly bytesPerSecond: number;
  readonly graceMs: number;
}

/** How long requests may take to arrive. */
export interface BodyPaces {
  readonly requestTimeoutMs: number;
  /** The limit for forms with files. */
  readonly uploadTimeoutMs: number;
  readonly minBytesPerSecond: number;
  /** Replaces {@link GRACE_MS} and {@link UPLOAD_GRACE_MS}. */
  readonly graceMs?: number | undefined;
}

/** Calls `refuse` for each connection whose body is too slow. Node has one limit for all requests, so these limits are checked here. */
export function endSlowBodies(
  server: FastifyInstance,
  inFlight: InFlight,
  paces: BodyPaces,
  refuse: (socket: Socket) => void,
): void {
  const usual: Pace = {
    timeoutMs: paces.requestTimeoutMs,
    steadyMs: steadyTimeoutMs(paces.requestTimeoutMs),
    bytesPerSecond: MIN_BYTES_PER_SECOND,
    graceMs: paces.graceMs ?? GRACE_MS,
  };
  const upload: Pace = {
    timeoutMs: paces.uploadTimeoutMs,
    steadyMs: paces.uploadTimeoutMs,
    bytesPerSecond: paces.minBytesPerSecond,
    graceMs: paces.graceMs ?? UPLOAD_GRACE_MS,
  };
  const bodies = new WeakMap<FastifyRequest, Seen>();
  const look = (): void => {
    const now = performance.now();
    for (const request of inFlight.arriving()) {
      const { socket, complete, readableFlowing } = request.raw;
      if (complete || !socket.writable) continue;
      const { isUpload, startedAt } = request.flight ?? { isUpload: false, startedAt: now };
      const pace = isUpload ? upload : usual;
      if (now - startedAt > pace.steadyMs) {
        refuse(socket);
        continue;
      }
      // A body that is not read because its key is being verified cannot advance, and a refused one has its answer already.
      if (readableFlowing !== true && !isUpload) continue;
      const seen = bodies.get(request);
      if (seen === undefined) bodies.set(request, { atMs: now, bytesRead: socket.bytesRead });
      else if (isSlow(seen, now, socket.bytesRead, paceAfter(now - startedAt, pace))) refuse(socket);
    }
  };
  // The check runs after the bytes that have arrived are read, so a pause of the process makes no body look slow.
  const timer = setInterval(() => setImmediate(look), CHECK_MS);
  server.addHook("onClose", (_instance, done) => {
    clearInterval(timer);
    done();
  });
}

/**
 * How many times as long as the limit a request may take whose body keeps coming at the least pace, and the longest time that this gives it:
 * a phone on a bad network sends a long message in 20 s.
 */
const STEADY_TIMES = 6;
const MAX_STEADY_MS = 60_000;

/** The longest time that a request without files may take to arrive, if its body keeps coming. */
export function steadyTimeoutMs(requestTimeoutMs: number): number {
  return Math.max(requestTimeoutMs, Math.min(STEADY_TIMES * requestTimeoutMs, MAX_STEADY_MS));
}

/** After a limit that is short, less of the time may have passed without bytes. */
function paceAfter(elapsedMs: number, pace: Pace): Pace {
  const graceMs = elapsedMs > pace.timeoutMs ? Math.min(pace.graceMs, pace.timeoutMs / 2) : pace.graceMs;
  return { ...pace, graceMs };
}

function isSlow(seen: Seen, nowMs: number, bytesRead: number, { graceMs, bytesPerSecond }: Pace): boolean {
  const dueMs = nowMs - seen.atMs - graceMs;
  return bytesRead - seen.bytesRead < (dueMs / 1000) * bytesPerSecond;
}
