import { describe, expect, onTestFinished, test } from "vitest";
import { type Database, query } from "../../src/database/database.ts";
import { all, run, text } from "../../src/database/steps.ts";
import { spreadOutbox } from "../../src/outbox/sending/spread-outbox.ts";
import type { AttemptResult } from "../../src/outbox/sending/transport.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";
import { ended } from "../support/ended-attempt.ts";
import { deliverOn } from "../support/engine-deliverer.ts";
import { NOON } from "../support/fake-clock.ts";
import { claimsOn, queueOn } from "../support/queue-on-engine.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import {
  hasPostgresql,
  openForTest,
  temporaryAddress,
  temporaryPostgresql,
} from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";
import { ANSWERED } from "../support/webhook-world.ts";

const FAILED: Partial<AttemptResult> = { outcome: "failed", blame: "recipient", status: 500 };

/** Where the claimed messages are: in rows of the outbox, which are claimed whole, or in `delivery`. */
type Place = "outbox" | "delivery";

async function queueWith(count: number, place: Place) {
  const db = await temporaryPostgresql();
  const queue = await queueOn(db);
  const [to = ""] = await queue.recipients(1);
  await queue.post(count);
  if (place === "delivery") await spreadOutbox(db, NOON);
  else await queue.gatherInOneRow();
  return { db, queue, to };
}

/** Undoes every claim, as a kill of PostgreSQL or the loss of its primary does, because claims do not wait for the disk. */
async function loseClaims(db: Database): Promise<void> {
  await db.transaction(function* () {
    yield* run(text("UPDATE outbox SET claimed_by = NULL"));
    yield* run(
      text(`UPDATE delivery SET state = 'pending', attempts = attempts - 1, claimed_at = NULL, claimed_by = NULL
        WHERE state = 'sending'`),
    );
  });
}

/** Says that the server of {@link deliverOn} lives: what it sends is not taken over. */
async function sayAlive(db: Database): Promise<void> {
  const row = `INSERT INTO live_server (id, program, schema_version, started_at, seen_at)
    VALUES ('one', '1', 1, 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${DAY_MS})`;
  await db.transaction(() => run(text(row)));
}

async function claim(db: Database, to: string) {
  const wants = [{ recipientId: to, limit: 9, bytes: 1e6 }];
  return (await db.relaxedTransaction(() => claimsOn(db).claimAhead(wants, NOON))).get(to) ?? [];
}

const outcomesOf = (db: Database) => db.read(() => all(query.selectFrom("attempt").select("outcome")));

describe.runIf(hasPostgresql).each<Place>(["outbox", "delivery"])(
  "a message in %s that was claimed anew because its claim was lost",
  (place) => {
    test("is recorded once if both attempts end together, and counts as delivered if one of them delivered", async () => {
      const { db, queue, to } = await queueWith(3, place);
      const before = await claim(db, to);
      await loseClaims(db);
      const anew = await claim(db, to);
      expect(anew.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      const attempts = [
        ended(before[0]!),
        ended(before[1]!, FAILED),
        ended(anew[0]!, FAILED),
        ended(anew[1]!, FAILED),
        ended(anew[2]!),
      ];
      const records = await db.relaxedTransaction(() => claimsOn(db).finish(attempts, NOON));
      expect(records.map((record) => record?.after.state)).toEqual([
        "delivered",
        undefined,
        undefined,
        "pending",
        "delivered",
      ]);
      expect(await queue.states()).toEqual({ delivered: 2, pending: 1 });
      expect((await outcomesOf(db)).map(({ outcome }) => outcome).toSorted()).toEqual([
        "delivered",
        "delivered",
        "failed",
      ]);
      expect(await db.read(() => all(query.selectFrom("outbox").selectAll()))).toEqual([]);
    });

    test("is recorded by its newest attempt if an earlier one ends with it", async () => {
      const { db, queue, to } = await queueWith(1, place);
      const [first] = await claim(db, to);
      await db.transaction(function* () {
        yield* claimsOn(db).giveBackUnknown([]);
        yield* run(query.updateTable("delivery").set({ attempts: 1 }));
      });
      const [second] = await claim(db, to);
      expect([first?.attempt, second?.attempt]).toEqual([1, 2]);
      const attempts = [ended(second!, FAILED), ended(first!)];
      const records = await db.relaxedTransaction(() => claimsOn(db).finish(attempts, NOON));
      expect(records).toMatchObject([{ after: { state: "pending" } }, null]);
      expect(await queue.states()).toEqual({ pending: 1 });
    });

    test("is sent once more, and holds up nothing that comes later", async () => {
      const { db, queue, to } = await queueWith(8, place);
      await sayAlive(db);
      const answers: (() => void)[] = [];
      await using world = deliverOn(db, [to], {
        answer: () => new Promise((resolve) => answers.push(() => resolve(ANSWERED))),
        policy: { limits: { total: 16, perDestination: 16, perRecipient: 16 } },
      });
      await until(() => answers.length === 8);
      await loseClaims(db);
      world.deliverer.reload();
      await until(() => answers.length === 16);
      answers.splice(0).forEach((end) => end());
      await until(async () => (await queue.states())["delivered"] === 8);
      await queue.post(1);
      world.deliverer.reload();
      await until(() => answers.length === 1);
      answers.forEach((end) => end());
      await until(async () => (await queue.states())["delivered"] === 9);
      expect(await outcomesOf(db)).toHaveLength(9);
    });
  },
);

test.runIf(hasPostgresql)(
  "a claim that PostgreSQL commits after its server gave it up is found within seconds",
  async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const queue = await queueOn(db);
    const to = await queue.recipients(1);
    await queue.post(1);
    await spreadOutbox(db, NOON);
    await sayAlive(db);
    const late = await connectPlainly(address);
    onTestFinished(() => late.end());
    await late.query("BEGIN");
    await late.query(
      `UPDATE delivery SET state = 'sending', attempts = 1, claimed_at = ${NOON}, claimed_by = 'one'`,
    );
    let rounds = 0;
    const breaking: Database = {
      ...db,
      async relaxedTransaction(work) {
        rounds += 1;
        if (rounds === 1) throw new FormsvcError("database_unusable", "the connection broke");
        return await db.relaxedTransaction(work);
      },
    };
    await using world = deliverOn(breaking, to, { claims: claimsOn(db) });
    // What the failed round left is given back, and nothing was to be found.
    await until(() => rounds >= 3);
    await late.query("COMMIT");
    const committedAt = performance.now();
    await until(() => world.carried.length === 1);
    // Without a failure, everything is read again after half a minute.
    expect(performance.now() - committedAt).toBeLessThan(20_000);
  },
);
