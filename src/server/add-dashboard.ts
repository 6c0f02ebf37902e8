import type { FastifyInstance } from "fastify";
import {
  dashboardUrlOf,
  ENDPOINT_CONTENTS,
  type ServiceParts,
  spamDefaults,
  type SubmitService,
} from "../app.ts";
import { mountDashboard } from "../dashboard/dashboard.ts";
import { createBackground } from "../foundation/background.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { createGuardedServer, type GuardParts } from "../http/server.ts";
import { createSelfExamination } from "./examine-self.ts";

interface Surroundings {
  readonly parts: Omit<ServiceParts, "metrics">;
  readonly configFile: string | null;
  readonly service: SubmitService;
}

/** Adds the dashboard, if it is on. Returns its server if it has an address of its own; the main one then has no dashboard. */
export function addDashboard(
  main: FastifyInstance,
  guards: Omit<GuardParts, "observe">,
  { parts, configFile, service }: Surroundings,
): FastifyInstance | null {
  const { config } = parts;
  const { enabled, listen } = config.dashboard;
  if (!enabled) return null;
  const { keyring, sender, letters, news, onChange } = service;
  const own = listen === null ? null : createGuardedServer({ ...guards, observe: () => {} });
  const server = own ?? main;
  const background = createBackground((error) => maintenanceFailed(parts.log, error));
  server.addHook("onClose", () => background.close());
  mountDashboard(server, {
    ...parts,
    configFile,
    dashboardUrl: dashboardUrlOf(config),
    endpointContents: ENDPOINT_CONTENTS,
    spamDefaults: spamDefaults(config),
    keyring,
    sender,
    letters,
    news,
    examine: createSelfExamination(parts, configFile, background),
    background,
    onChange,
  });
  return own;
}
