import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS } from "../../src/foundation/time-units.ts";
import { checkClock } from "../../src/submissions/stored/clock-health.ts";
import { lookAtClock } from "../../src/submissions/stored/clock-seen.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { examplePost } from "../support/posts.ts";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const YEAR_MS = 365 * DAY_MS;

describe.each(ENGINES)("on $name the clean-ups", ({ temporary }) => {
  /** Looks each hour from `from` on, as a server that runs does. Returns the number of looks that doubted the clock. */
  async function opened() {
    const db = await temporary();
    const look = (now: number, ranMs = 0) => db.transaction(() => lookAtClock(now, ranMs));
    const runFor = async (hours: number, from: number): Promise<number> => {
      let doubts = 0;
      for (let hour = 0; hour < hours; hour += 1)
        if ((await look(from + hour * HOUR_MS, hour === 0 ? 0 : HOUR_MS)).doubt !== null) doubts += 1;
      return doubts;
    };
    const isSound = async (now: number) => (await db.read(() => checkClock(now))).ok;
    return { look, runFor, isSound };
  }

  test("follow a clock that goes on, goes back, or goes less than a day ahead", async () => {
    const { look, runFor, isSound } = await opened();
    expect(await runFor(60, NOON)).toBe(0);
    const now = NOON + 59 * HOUR_MS;
    for (const at of [now + DAY_MS, now - YEAR_MS, now - YEAR_MS + 23 * HOUR_MS])
      expect(await look(at)).toMatchObject({ doubt: null });
    expect(await isSound(now - YEAR_MS + 23 * HOUR_MS)).toBe(true);
  });

  test("do not follow one that is years ahead, also after a restart, and follow it again when it is set right", async () => {
    const { look, runFor, isSound } = await opened();
    await look(NOON);
    const doubt = { seenAt: NOON, doubtedAt: NOON + YEAR_MS };
    expect((await look(NOON + YEAR_MS)).doubt).toEqual(doubt);
    expect(await runFor(20, NOON + YEAR_MS)).toBe(20);
    expect((await look(NOON + 2 * YEAR_MS)).doubt).toEqual(doubt);
    expect(await isSound(NOON + 2 * YEAR_MS)).toBe(false);
    expect(await look(NOON + 21 * HOUR_MS)).toMatchObject({ doubt: null });
    expect(await isSound(NOON + 21 * HOUR_MS)).toBe(true);
    expect((await look(NOON + YEAR_MS)).doubt).toMatchObject({ doubtedAt: NOON + YEAR_MS });
  });

  test("follow it after a server has run for a day with it, whatever restarts there were", async () => {
    const { look, runFor } = await opened();
    await look(NOON);
    expect(await runFor(13, NOON + YEAR_MS)).toBe(13);
    expect(await runFor(14, NOON + YEAR_MS + 13 * HOUR_MS)).toBe(12);
    expect(await look(NOON + YEAR_MS + 30 * HOUR_MS)).toMatchObject({ doubt: null });
  });

  test("note an idle server's clock once an hour", async () => {
    const { look } = await opened();
    const noted: boolean[] = [];
    for (const halves of [0, 1, 2, 3])
      noted.push((await look(NOON + (halves * HOUR_MS) / 2, (halves * HOUR_MS) / 2)).isNoted);
    expect(noted).toEqual([true, false, true, false]);
  });
});

test("a server whose clock is two years ahead for a while deletes nothing that is not too old", async () => {
  const server = await startServer();
  const { id, secret } = await server.addEndpoint();
  await server.post(secret, examplePost);
  server.owner.execute("UPDATE endpoint SET keep_days = 30");
  const count = (table: string) => server.owner.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  await server.restart();
  server.clock.advance(2 * YEAR_MS);
  // The last clean-up moves this message: when it is there, the round is over.
  server.owner.execute(`
    INSERT INTO recipient (id, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, created_at)
      VALUES ('wh_1', '${id}', 100, 'disabled', 'closed', 0, 0, 1);
    INSERT INTO webhook (id, url, headers, allow_private) VALUES ('wh_1', 'https://example.org/hook', '{}', 0);
    INSERT INTO outbox (recipient_id, queued_at, message_count, messages)
      SELECT 'wh_1', 1, 1, json_array(json_array('msg_1', id)) FROM submission`);
  await server.restart();
  await until(() => count("delivery") === 1);
  expect(server.log.filter((line) => line.includes('"clock.doubted"'))).toHaveLength(1);
  server.clock.advance(-2 * YEAR_MS);
  await server.restart();
  expect(count("submission")).toBe(1);
});
