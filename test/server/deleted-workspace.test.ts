import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { examplePost, patiently, tryPost } from "../support/posts.ts";
import { addressForFile, hasPostgresql } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

/** Who post to each form at the same time, each by turns to each server. */
const SENDERS = 3;
/** Answers to wait for, so that posts come before, during and after the deletion. */
const ENOUGH = 20;
/** Between two posts of one sender, who would take all of the processor without. */
const PAUSE_MS = 10;

interface Answered {
  readonly began: number;
  readonly status: number;
  readonly id: string | undefined;
}

/** Posts without end to a form of each server in turn, as long as the test runs. */
function postByTurns(urls: readonly string[], key: string) {
  const answers: Answered[] = [];
  const state = { isOver: false };
  const send = async (sender: number): Promise<void> => {
    for (let count = sender; !state.isOver; count += 1) {
      const began = performance.now();
      const data = { ...examplePost, message: `Is number ${sender} of ${count} open?` };
      const answer = await patiently(() => tryPost(urls[count % urls.length] ?? "", key, data));
      const { submission_id: id } = (await answer.json()) as { submission_id?: string };
      answers.push({ began, status: answer.status, id });
      await sleep(PAUSE_MS);
    }
  };
  const sending = Array.from({ length: SENDERS }, (_, sender) => send(sender));
  const stop = async (): Promise<Answered[]> => {
    state.isOver = true;
    await Promise.all(sending);
    return answers;
  };
  onTestFinished(async () => void (await stop()));
  return { answers, stop };
}

async function storedIds(machine: OperatorMachine): Promise<string[]> {
  const { stdout } = await machine.mustRun(["submission", "export", "--format", "ndjson"]);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

const WORLDS = [
  { where: "a server on SQLite", servers: 1, isMissing: false },
  { where: "two servers on PostgreSQL", servers: 2, isMissing: !hasPostgresql },
];

describe.each(WORLDS)("while posts arrive at $where", ({ servers, isMissing }) => {
  test.skipIf(isMissing)(
    "a workspace is deleted: each post to it is stored whole or gets 401, none after the end is taken, and every other is kept",
    async () => {
      const machine = operatorMachine(servers > 1 ? { database: { url: await addressForFile() } } : {});
      await machine.mustRun(["account", "create", "ada@example.org"]);
      const [kept, doomed] = ["Kept", "Doomed"];
      for (const name of [kept, doomed]) await machine.mustRun(["workspace", "create", "--name", name]);
      const urls: string[] = [];
      for (let count = 0; count < servers; count += 1) urls.push((await machine.serveHere()).url);
      const [stays, goes] = [
        await machine.createEndpoint({ workspace: kept }),
        await machine.createEndpoint({ workspace: doomed }),
      ];
      const [toKept, toDoomed] = [postByTurns(urls, stays.secret), postByTurns(urls, goes.secret)];
      const count = ({ answers }: typeof toKept, status: number) =>
        answers.filter((answer) => answer.status === status).length;
      await until(() => count(toDoomed, 200) >= ENOUGH && count(toKept, 200) >= ENOUGH);
      await machine.mustRun(["workspace", "delete", doomed, "--yes"]);
      const end = performance.now();
      await until(() => toDoomed.answers.filter(({ began }) => began > end).length >= ENOUGH * servers);

      const [gone, taken] = [await toDoomed.stop(), await toKept.stop()];
      const stored = gone.filter(({ status }) => status === 200);
      expect(new Set(gone.map(({ status }) => status))).toEqual(new Set([200, 401]));
      expect(stored.filter(({ began }) => began > end)).toEqual([]);
      expect(new Set(taken.map(({ status }) => status))).toEqual(new Set([200]));
      // Nothing of the workspace is left, and nothing of the other is missing.
      expect((await storedIds(machine)).toSorted()).toEqual(taken.map(({ id = "" }) => id).toSorted());
      const { data } = await machine.json<{ data: { name: string }[] }>(["workspace", "list"]);
      expect(data.map(({ name }) => name)).not.toContain(doomed);
    },
  );
});
