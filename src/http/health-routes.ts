import type { FastifyInstance } from "fastify";
import { FormsvcError } from "../foundation/errors.ts";

export interface HealthRoutesParts {
  readonly isWritable: () => boolean;
  readonly isDraining: () => boolean;
}

/** `/healthz`: the process is up. `/readyz`: it takes posts, because the database can be written and no stop is under way. */
export function healthRoutes(server: FastifyInstance, parts: HealthRoutesParts): void {
  server.get("/healthz", () => ({ status: "ok" }));
  server.get("/readyz", () => {
    if (parts.isDraining())
      throw new FormsvcError("unavailable", "The server is shutting down.", { retryAfterSeconds: 5 });
    if (!parts.isWritable()) {
      throw new FormsvcError("unavailable", "The database cannot be written.", { retryAfterSeconds: 5 });
    }
    return { status: "ready" };
  });
}
