import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import type { Operation } from "./operation.ts";

export interface HealthRoutesParts {
  readonly isUpgraded: () => boolean;
  readonly isWritable: () => boolean;
  readonly isDraining: () => boolean;
}

/** Until the server is restarted with the version that did it. */
export function upgradedMeanwhile(): FormsvcError {
  return new FormsvcError("unavailable", "The database was upgraded; the server is to be restarted.", {
    retryAfterSeconds: 5,
  });
}

/** `/healthz`: the process is up. `/readyz`: it takes posts, because the database can be written and no stop is under way. */
export function healthRoutes(server: FastifyInstance, parts: HealthRoutesParts): void {
  server.get("/healthz", { config: { operation: healthOperation } }, () => ({ status: "ok" }));
  server.get("/readyz", { config: { operation: readyOperation } }, () => {
    if (parts.isDraining())
      throw new FormsvcError("unavailable", "The server is shutting down.", { retryAfterSeconds: 5 });
    if (parts.isUpgraded()) throw upgradedMeanwhile();
    if (!parts.isWritable()) {
      throw new FormsvcError("unavailable", "The database cannot be written.", { retryAfterSeconds: 5 });
    }
    return { status: "ready" };
  });
}

const healthOperation: Operation = {
  id: "health",
  summary: "Whether the process is up",
  key: "none",
  answers: {
    200: {
      description: "It is.",
      content: { "application/json": z.object({ status: z.literal("ok") }) },
    },
  },
  errors: ["internal"],
};

const readyOperation: Operation = {
  id: "ready",
  summary: "Whether posts are taken: the database can be written and no stop is under way",
  key: "none",
  answers: {
    200: {
      description: "They are.",
      content: { "application/json": z.object({ status: z.literal("ready") }) },
    },
  },
  errors: ["internal", "unavailable"],
};
