import type { ServiceParts } from "../app/parts.ts";
import type { SubmitService } from "../app/submit-service.ts";
import { dashboardUrlOf } from "../app/transports.ts";
import { SingleFlight } from "../foundation/single-flight.ts";
import { createBackground } from "../foundation/background.ts";
import { maintenanceFailed } from "../foundation/events.ts";
import { parseMailAddress } from "../foundation/mail-address.ts";

type Surroundings = Omit<ServiceParts, "metrics"> & {
  readonly service: Pick<SubmitService, "mail" | "posts">;
};

/** Notifies owners and operators that the limit of a month is nearly or completely used. */
interface RunningLimitLetters {
  /** Call every minute, on one of the servers that share the database. */
  look(): void;
  stop(): Promise<void>;
}

/** Null if no mail server is configured; then nothing of it is loaded. */
export async function openLimitLetters(surroundings: Surroundings): Promise<RunningLimitLetters | null> {
  const { db, config, service, clock, log } = surroundings;
  const { mail, posts } = service;
  if (mail === null) return null;
  const { LimitLetters } = await import("../doctor/limit-letters.ts");
  const background = createBackground((error) => maintenanceFailed(log, error));
  const letters = new LimitLetters({
    db,
    plans: config.plans,
    files: config.files,
    heldDays: config.held.days,
    operator: parseMailAddress(config.mail.operator ?? ""),
    dashboardUrl: dashboardUrlOf(config),
    clock,
    onWritten: () => mail.storedLetters.wake(),
  });
  posts.limitNews.listen((workspaceId) => background.add(letters.lookAt(workspaceId)));
  const looking = new SingleFlight();
  return {
    look: () => background.add(looking.run(() => letters.lookThrough())),
    async stop() {
      letters.stop();
      await background.close();
    },
  };
}
