import type { ServiceParts } from "../app/parts.ts";
import type { SubmitService } from "../app/submit-service.ts";
import { dashboardUrlOf } from "../app/transports.ts";
import { createBackground } from "../foundation/background.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { parseMailAddress } from "../foundation/mail-address.ts";

interface Surroundings extends Omit<ServiceParts, "metrics"> {
  readonly configFile: string | null;
  readonly service: Pick<SubmitService, "mail">;
}

/** Examines this server at regular times, and writes to `mail.operator`. */
interface RunningAlert {
  /** Call every minute. */
  look(): void;
  stop(): Promise<void>;
}

/** Null if `mail.operator` or the mail server is not configured; then nothing of it is loaded. */
export async function openOperatorAlert(surroundings: Surroundings): Promise<RunningAlert | null> {
  const { db, config, configFile, service, clock, log } = surroundings;
  const to = parseMailAddress(config.mail.operator ?? "");
  if (to === null || service.mail === null) return null;
  const { storedLetters } = service.mail;
  const [{ OperatorAlert }, { readReported, reportToOperator }, { createSelfExamination }] =
    await Promise.all([
      import("../doctor/operator-alert.ts"),
      import("../doctor/reported-problems.ts"),
      import("./examine-self.ts"),
    ]);
  const background = createBackground((error) => maintenanceFailed(log, error));
  const examineSelf = createSelfExamination(surroundings, configFile, background);
  const { baseUrl } = config.server;
  const dashboardUrl = dashboardUrlOf(config);
  const alert = new OperatorAlert({
    examine: () => examineSelf("now"),
    host: baseUrl === null ? null : new URL(baseUrl).hostname,
    systemUrl: dashboardUrl === null ? null : `${dashboardUrl}/system`,
    clock,
    reported: {
      read: () => db.read(() => readReported(to)),
      async report(content, problems) {
        const isWritten = await db.transaction(() => reportToOperator(to, content, problems, clock.now()));
        storedLetters.wake();
        return isWritten;
      },
    },
  });
  return { look: () => background.add(alert.look()), stop: () => background.close() };
}
