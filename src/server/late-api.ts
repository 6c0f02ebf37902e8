import type { ServiceParts } from "../app/parts.ts";
import type { SubmitService } from "../app/submit-service.ts";
import { createBackground } from "../foundation/background.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import type { LateRoutes } from "../http/late-routes.ts";
import { latePartsOf } from "./late-parts.ts";

interface Served {
  readonly parts: Omit<ServiceParts, "metrics">;
  readonly configFile: string | null;
  readonly service: SubmitService;
}

/** The management API, which its first request loads; null if it is off. */
export function lateApi(served: Served): LateRoutes | null {
  if (!served.parts.config.api.enabled) return null;
  return {
    path: "/api/v1",
    isFront: false,
    hasCodes: true,
    isFor: () => true,
    async add(server) {
      const [{ mountApi }, { createSelfExamination }] = await Promise.all([
        import("../api/mount-api.ts"),
        import("./examine-self.ts"),
      ]);
      const { parts, configFile } = served;
      const background = createBackground((error) => maintenanceFailed(parts.log, error));
      server.addHook("onClose", () => background.close());
      mountApi(server, {
        ...latePartsOf(served),
        examine: createSelfExamination(parts, configFile, background),
      });
    },
  };
}
