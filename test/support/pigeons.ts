import { newId } from "../../src/foundation/id.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { insertRecipient } from "../../src/outbox/queue/recipient-store.ts";
import { createClaims } from "../../src/outbox/engines/sqlite-claims.ts";
import type {
  AttemptResult,
  DeliveryPolicy,
  Message,
  Route,
  Transport,
} from "../../src/outbox/sending/transport.ts";
import { silentLog } from "./silent-log.ts";
import type { WebhookWorld } from "./webhook-world.ts";

const POLICY: DeliveryPolicy = {
  scheduleSeconds: [60],
  probeSeconds: [3600],
  failuresUntilProbes: 5,
  refusalsUntilStopped: 3,
  afterUnsure: null,
  limits: { total: 2, perDestination: 2, perRecipient: 2 },
  pace: null,
};

export interface Pigeons {
  /** The ids of the recipients. */
  readonly ids: readonly string[];
  readonly routes: Map<string, Route>;
  /** The outcome of each recorded attempt, in order. */
  readonly reports: string[];
  readonly deliverer: Deliverer;
  /** Makes a deliverer like that of a new process. The one before must have stopped. */
  readonly restart: () => Deliverer;
}

interface PigeonOptions {
  readonly count?: number;
  readonly policy?: Partial<DeliveryPolicy>;
  readonly gatherSeconds?: number | null;
}

/** Adds a transport of the kind `pigeon` to one destination, and recipients of it beside the webhooks of the world. */
export function addPigeons(
  world: WebhookWorld,
  send: (message: Message, recipientId: string) => Promise<AttemptResult>,
  { count = 1, policy = {}, gatherSeconds = null }: PigeonOptions = {},
): Pigeons {
  const { endpointId } = world;
  const now = world.clock.now();
  const ids = Array.from({ length: count }, () => newId("wh", now));
  for (const id of ids) {
    world.db.now(() =>
      insertRecipient({ id, kind: "pigeon", endpointId, maxSpamScore: 100, confirmedAt: now }, now),
    );
  }
  const reports: string[] = [];
  const routes = new Map<string, Route>(
    ids.map((id) => [id, { destination: "loft", gatherSeconds, send: (message) => send(message, id) }]),
  );
  const transport: Transport = {
    kind: "pigeon",
    sharedKind: "pigeon",
    policy: { ...POLICY, ...policy },
    routes: () => Promise.resolve(routes),
    report: ({ result }) => void reports.push(result.outcome),
    destroy: () => Promise.resolve(),
  };
  const { db, outbox, clock } = world;
  const parts = {
    db,
    claims: createClaims(db),
    outbox,
    clock,
    log: silentLog,
    random: () => 0,
  };
  const restart = (): Deliverer => {
    world.deliverer = new Deliverer({ ...parts, transports: [world.transport, transport] });
    return world.deliverer;
  };
  return { ids, routes, reports, deliverer: restart(), restart };
}
