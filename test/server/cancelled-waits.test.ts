import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startPair } from "../support/cluster-pair.ts";
import { endWaits } from "../support/end-waits.ts";
import { rowsOf } from "../support/engines.ts";
import { startManyHere } from "../support/many-servers.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { examplePost, postPatiently, tryPost } from "../support/posts.ts";
import { hasPostgresql, openForTest } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

/** Answers to posts that wait for a lost standby, each with its key. */
interface Answered {
  readonly key: string;
  readonly status: number;
  readonly id: string | undefined;
}

const KEYS = Array.from({ length: 6 }, (_, index) => `order-${index}`);
/** Each server refuses this number of repeated posts before the primary is lost. */
const REFUSALS = 20;
const PAUSE_MS = 20;
/** Sends posts with these keys to a server, one for each at a time, until it is told to stop. */
function repeatPosts(url: string, secret: string, answers: Answered[]) {
  const end = new AbortController();
  const repeat = async (key: string): Promise<void> => {
    while (!end.signal.aborted) {
      const answer = await tryPost(url, secret, examplePost, { "idempotency-key": key }).catch(() => null);
      if (answer === null) continue;
      const { submission_id: id } = (await answer.json()) as { submission_id?: string };
      answers.push({ key, status: answer.status, id });
      // Refused at once, many of them would take all of the processor.
      await sleep(PAUSE_MS);
    }
  };
  const repeating = Promise.all(KEYS.map(repeat));
  return async (): Promise<void> => {
    end.abort();
    await repeating;
  };
}

test.skipIf(!hasPostgresql)(
  "whoever repeats a post is told of it only when the standby has it, whatever ends a wait for it",
  { timeout: 240_000 },
  async () => {
    const wrong = await Promise.all([wronglyTold("cancel"), wronglyTold("terminate")]);
    expect(wrong).toEqual([NOTHING_WRONG, NOTHING_WRONG]);
  },
);

const NOTHING_WRONG = { early: [], notStored: [], withTwoIds: [] };

/** What servers on a pair of their own, which wait most of the time, tell and should not. */
async function wronglyTold(how: "cancel" | "terminate") {
  const pair = await startPair();
  onTestFinished(() => pair.stop());
  const many = await startManyHere(pair.address(), 2);
  onTestFinished(() => many.stop());
  const urls = many.servers.map(({ url }) => url);
  const { secret } = await many.machine.createEndpoint();
  await postPatiently(urls[0]!, secret);
  const admin = await connectPlainly(pair.primary.address("postgres"));
  admin.on("error", () => undefined);
  await admin.query("SET synchronous_commit = local");

  await pair.standby.kill();
  const stopEnding = endWaits(admin, how);
  const answers: Answered[][] = urls.map(() => []);
  const stops = urls.map((url, index) => repeatPosts(url, secret, answers[index]!));
  const visible = await openForTest(pair.primary.address("postgres"));
  await until(async () => (await rowsOf(visible, "SELECT 1 FROM idempotency")).length === KEYS.length);
  await until(() => answers.every((each) => each.length >= REFUSALS));
  await stopEnding();
  await admin.end();
  await pair.primary.kill();
  const early = answers.flat().filter(({ status }) => status === 200);
  await pair.standby.restart();
  await pair.promote();

  const ofKey = (key: string) => answers.flat().some((each) => each.key === key && each.status === 200);
  await until(() => KEYS.every(ofKey));
  for (const stop of stops) await stop();
  const promoted = await openForTest(pair.standby.address("postgres"));
  const stored = new Set(
    (await rowsOf<{ id: string }>(promoted, "SELECT id FROM submission")).map(({ id }) => id),
  );
  const taken = answers.flat().filter(({ status }) => status === 200);
  const idsOf = (key: string) => new Set(taken.filter((each) => each.key === key).map(({ id }) => id));
  return {
    early,
    notStored: taken.filter(({ id }) => id === undefined || !stored.has(id)),
    withTwoIds: KEYS.filter((key) => idsOf(key).size !== 1),
  };
}
