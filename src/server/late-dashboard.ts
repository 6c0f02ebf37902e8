import { resolve } from "node:path";
import type { ServiceParts } from "../app/parts.ts";
import type { SubmitService } from "../app/submit-service.ts";
import { isFileHost } from "../config/file-host.ts";
import { loadConfig } from "../config/load-config.ts";
import { createBackground } from "../foundation/background.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { compileNetworks } from "../foundation/ip-address.ts";
import type { LateRoutes } from "../http/late-routes.ts";
import { latePartsOf } from "./late-parts.ts";

interface Surroundings {
  readonly parts: Omit<ServiceParts, "metrics">;
  readonly configFile: string | null;
  readonly service: SubmitService;
}

/** The dashboard, which is loaded with its first visit; null if it is off. */
export function lateDashboard({ parts, configFile, service }: Surroundings): LateRoutes | null {
  const { config } = parts;
  if (!config.dashboard.enabled) return null;
  const { allowNetworks } = config.dashboard;
  const allowed = compileNetworks(allowNetworks);
  return {
    path: "/dashboard",
    isFront: true,
    hasCodes: false,
    isFor: (clientAddress, host) =>
      (allowNetworks.length === 0 || allowed.contains(clientAddress)) && !isFileHost(config, host),
    async add(server) {
      const [{ mountDashboard }, { createSelfExamination }] = await Promise.all([
        import("../dashboard/dashboard.ts"),
        import("./examine-self.ts"),
      ]);
      const background = createBackground((error) => maintenanceFailed(parts.log, error));
      server.addHook("onClose", () => background.close());
      mountDashboard(server, {
        ...latePartsOf({ parts, service }),
        configFile: fileInForce(configFile),
        examine: createSelfExamination(parts, configFile, background),
        background,
      });
    },
  };
}

/** The configuration file: the one that `--config` names, else the one that is found in a usual folder; null if there is none. */
function fileInForce(named: string | null): string | null {
  try {
    const { file } = loadConfig(named);
    return file === null ? null : resolve(file);
  } catch (error) {
    // The configuration was changed since the start, so only the named file can be reported.
    if (error instanceof FormsvcError) return named;
    throw error;
  }
}
