import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import type { RouteDescription } from "./operation.ts";

export interface HealthRoutesParts {
  readonly blindness: () => NotReadyReason | null;
  readonly isWritable: () => boolean;
  readonly awaitsStandby: () => boolean;
  readonly isDraining: () => boolean;
}

/** Why no key can be checked: a newer program upgraded the database, or the database does not answer. */
export type NotReadyReason = "upgraded" | "unheard";

const REFUSALS: Readonly<Record<NotReadyReason, readonly [sentence: string, retryAfterSeconds: number]>> = {
  // True until the server is restarted with the newer version.
  upgraded: ["The database was upgraded; the server is to be restarted.", 5],
  unheard: ["The database does not answer; try again shortly.", 2],
};

export function notReadyError(blindness: NotReadyReason): FormsvcError {
  const [sentence, retryAfterSeconds] = REFUSALS[blindness];
  return new FormsvcError("unavailable", sentence, { retryAfterSeconds });
}

/**
 * `/healthz` says that the process is up. `/readyz` says that the server accepts posts: the database can be written, and the server is not
 * stopping.
 */
export function healthRoutes(server: FastifyInstance, parts: HealthRoutesParts): void {
  server.get("/healthz", { config: { operation: healthOperation } }, () => ({ status: "ok" }));
  server.get("/readyz", { config: { operation: readyOperation } }, () => {
    if (parts.isDraining())
      throw new FormsvcError("unavailable", "The server is shutting down.", { retryAfterSeconds: 5 });
    // A database that does not answer for a moment must not take a server out of the load balancer.
    if (parts.blindness() === "upgraded") throw notReadyError("upgraded");
    if (!parts.isWritable()) {
      const reason = parts.awaitsStandby()
        ? "The database waits for a synchronous standby that is not there."
        : "The database cannot be written.";
      throw new FormsvcError("unavailable", reason, { retryAfterSeconds: 5 });
    }
    return { status: "ready" };
  });
}

const healthOperation: RouteDescription = {
  id: "health",
  summary: "Whether the process is up",
  key: "none",
  answers: answer("It is.", "ok"),
  errors: ["internal"],
};

const readyOperation: RouteDescription = {
  id: "ready",
  summary: "Whether posts are taken: the database can be written and no stop is under way",
  key: "none",
  answers: answer("They are.", "ready"),
  errors: ["internal", "unavailable"],
};

function answer(description: string, status: string): RouteDescription["answers"] {
  const content = { "application/json": z.object({ status: z.literal(status) }) };
  return { 200: { description, content } };
}
