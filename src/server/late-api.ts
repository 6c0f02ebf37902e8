import type { FastifyInstance } from "fastify";
import type { ServedParts } from "../api/parts.ts";
import type { ServiceParts } from "../app/parts.ts";
import type { SubmitService } from "../app/submit-service.ts";
import { createBackground } from "../foundation/background.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import type { TokenFiles } from "../http/submission-routes.ts";
import type { LateRoutes } from "../http/late-routes.ts";
import { latePartsOf } from "./late-parts.ts";

interface Served {
  readonly parts: Omit<ServiceParts, "metrics">;
  readonly configFile: string | null;
  readonly service: SubmitService;
}

/** The management API, which is loaded with its first request; null if it is off. */
export function lateApi(served: Served): LateRoutes | null {
  if (!served.parts.config.api.enabled) return null;
  return routesOf("/api/v1", served, async () => (await import("../api/mount-api.ts")).mountApi);
}

/** The endpoint for agents, which is loaded with its first request; null if it is off. */
export function lateMcp(served: Served): LateRoutes | null {
  if (!served.parts.config.mcp.enabled) return null;
  return routesOf("/mcp", served, async () => (await import("../mcp/mount-mcp.ts")).mountMcp);
}

/** Serves files to programs with a token; null if the API is off. */
export function lateTokenFiles(served: Served): TokenFiles | null {
  if (!served.parts.config.api.enabled) return null;
  let made: Promise<TokenFiles> | null = null;
  return async (...asked) => {
    made ??= import("../api/token-files.ts").then(({ createTokenFiles }) =>
      createTokenFiles(latePartsOf(served)),
    );
    return (await made)(...asked);
  };
}

type Mount = (server: FastifyInstance, parts: ServedParts) => void;

function routesOf(path: string, served: Served, load: () => Promise<Mount>): LateRoutes {
  return {
    path,
    isFront: false,
    hasCodes: true,
    isFor: () => true,
    async add(server) {
      const [mount, { createSelfExamination }] = await Promise.all([load(), import("./examine-self.ts")]);
      const { parts, configFile } = served;
      const background = createBackground((error) => maintenanceFailed(parts.log, error));
      server.addHook("onClose", () => background.close());
      mount(server, {
        ...latePartsOf(served),
        examine: createSelfExamination(parts, configFile, background),
      });
    },
  };
}
