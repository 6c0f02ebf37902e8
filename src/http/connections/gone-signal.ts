import type { FastifyReply } from "fastify";
import { FormsvcError } from "../../foundation/errors.ts";

/**
 * A signal that is aborted when the client hangs up before it has the whole answer. A client that closed only its own direction looks the
 * same until something is written to it, and counts as gone: no browser does that.
 */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const { socket } = raw;
  const leave = (): void => {
    if (!raw.writableFinished) gone.abort(new FormsvcError("request_timeout", "The client has gone."));
  };
  if (socket?.readableEnded === true) leave();
  socket?.once("end", leave);
  raw.once("close", () => {
    socket?.off("end", leave);
    leave();
  });
  return gone.signal;
}
