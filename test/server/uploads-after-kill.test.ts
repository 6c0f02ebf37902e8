import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf, sha256, storedFiles } from "../support/uploads.ts";

const ROUNDS = 4;
const UPLOADS = 6;

test("however often the server is killed while files come, each form that was answered has all its bytes, and an hour later nothing else is left", async () => {
  const machine = operatorMachine({ files: { minFreeBytes: 0 } });
  const { secret } = await machine.createEndpoint({ schema: applicationSchema });
  const acknowledged: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await machine.serve();
    const send = async (): Promise<void> => {
      const form = await multipart([
        ["name", "Ana"],
        ["cv", { name: "cv.pdf", bytes: pdf(1_500_000, `${round}`) }],
      ]);
      for (;;) {
        const answer = await fetch(`${server.url}/submit`, {
          method: "POST",
          headers: { ...form.headers, authorization: `Bearer ${secret}` },
          body: new Uint8Array(form.body),
        });
        if (answer.status === 200)
          acknowledged.push(((await answer.json()) as { submission_id: string }).submission_id);
      }
    };
    const uploads = Array.from({ length: UPLOADS }, () => send().catch(() => undefined));
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + round);
    // Into the middle of the chunks of others.
    await sleep(Math.random() * 30);
    await server.stop("SIGKILL");
    await Promise.all(uploads);
  }
  const db = openDatabase(machine.database, { busyTimeoutMs: 10_000 });
  const whole = (): Set<string> => {
    const { files, bytesOf } = storedFiles(db);
    const stored = files.filter(({ state }) => state === "stored");
    for (const { id, sha256: digest } of stored) expect(sha256(bytesOf(id))).toBe(digest);
    return new Set(stored.map(({ submission_id: id }) => id ?? ""));
  };
  const there = whole();
  expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);

  db.prepare("UPDATE file SET created_at = created_at - 3700000 WHERE state = 'storing'").run();
  const server = await machine.serve();
  await until(() => storedFiles(db).files.every(({ state }) => state === "stored"));
  const { files, chunks } = storedFiles(db);
  expect(chunks).toBe(files.length * 6);
  expect(whole()).toEqual(there);
  await server.stop();
  db.close();
});
