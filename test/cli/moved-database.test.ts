import { copyFileSync, mkdirSync, renameSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { post, storedIds, tryPost } from "../support/posts.ts";
import { until } from "../support/until.ts";

test("no post is acknowledged into a database that was moved away or replaced, and posts are taken when it is back", async () => {
  const machine = operatorMachine();
  const { secret } = await machine.createEndpoint();
  const server = await machine.serve();
  const first = await post(server.url, secret);
  const names = ["", "-wal", "-shm"].map((suffix) => [machine.database, suffix] as const);
  mkdirSync(machine.path("away"));
  const away = `${machine.path("away")}/formsvc.db`;
  for (const [file, suffix] of names) renameSync(file + suffix, away + suffix);
  const refused = await tryPost(server.url, secret);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  await until(async () => (await fetch(`${server.url}/readyz`)).status === 503);
  await until(() =>
    server.lines.some((line) => String(line["reason"]).includes("moved or deleted while it was open")),
  );

  copyFileSync(away, machine.database);
  expect((await tryPost(server.url, secret)).status).toBe(503);

  for (const [file, suffix] of names) renameSync(away + suffix, file + suffix);
  const second = await post(server.url, secret);
  expect(storedIds(machine.database)).toEqual(new Set([first, second]));
  await server.stop();
});
