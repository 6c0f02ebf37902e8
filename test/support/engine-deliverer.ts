import type { Database } from "../../src/database/database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import type { Claims } from "../../src/outbox/sending/claims.ts";
import { Deliverer } from "../../src/outbox/sending/deliverer.ts";
import { createOutbox, createSqliteOutbox } from "../../src/outbox/queue/outbox.ts";
import type {
  AttemptResult,
  DeliveryPolicy,
  Message,
  Route,
  Transport,
} from "../../src/outbox/sending/transport.ts";
import { createFakeClock } from "./fake-clock.ts";
import { claimsOn } from "./queue-on-engine.ts";
import { silentLog } from "./silent-log.ts";
import { ANSWERED } from "./webhook-world.ts";

const POLICY: DeliveryPolicy = {
  scheduleSeconds: [60, 60],
  probeSeconds: [60],
  failuresUntilProbes: 3,
  refusalsUntilStopped: 3,
  afterUnsure: null,
  limits: { total: 8, perDestination: 8, perRecipient: 4 },
  pace: null,
};

/** The message that one attempt carried. */
export interface Carried {
  readonly id: string;
  readonly to: string;
  /** The number of messages in it; `bodies` is the number of those that have a body. */
  readonly count: number;
  readonly bodies: number;
}

interface DeliverOptions {
  readonly policy?: Partial<DeliveryPolicy>;
  readonly answer?: (carried: Carried) => Promise<AttemptResult> | AttemptResult;
  readonly claims?: Claims;
}

/** Makes and starts a deliverer on any engine, which sends to these recipients of the kind `pigeon`. */
export function deliverOn(
  db: Database,
  to: readonly string[],
  { policy = {}, answer = () => ANSWERED, claims = claimsOn(db) }: DeliverOptions = {},
) {
  const clock = createFakeClock();
  const carried: Carried[] = [];
  const send = async (message: Message, recipientId: string): Promise<AttemptResult> => {
    const { id, memberIds, memberBodies } = message;
    carried.push({ id, to: recipientId, count: memberIds.length + 1, bodies: memberBodies.length + 1 });
    return answer(carried.at(-1)!);
  };
  const routes = new Map<string, Route>(
    to.map((id) => [id, { destination: "loft", gatherSeconds: null, send: (message) => send(message, id) }]),
  );
  const transport: Transport = {
    kind: "pigeon",
    sharedKind: "pigeon",
    policy: { ...POLICY, ...policy },
    routes: () => Promise.resolve(routes),
    report: () => undefined,
    destroy: () => Promise.resolve(),
  };
  const outbox = db.engine === "sqlite" ? createSqliteOutbox(db as SqliteDatabase) : createOutbox();
  const parts = { db, claims, outbox, transports: [transport], clock, log: silentLog, random: () => 0 };
  const deliverer = new Deliverer(parts);
  deliverer.start();
  /** Advances the clock, and waits until everything that is due then has happened. */
  const settle = async (advanceMs = 0): Promise<void> => {
    clock.advance(advanceMs);
    deliverer.reload();
    await deliverer.settled();
  };
  return { clock, carried, deliverer, outbox, settle, [Symbol.asyncDispose]: () => deliverer.stop(0) };
}
