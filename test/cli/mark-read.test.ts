import { expect, test } from "vitest";
import { insertReadRows } from "../../src/submissions/stored/read-marks.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { openForTest } from "../support/temporary-database.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";

test("submission mark-read leaves the rows that opening in the dashboard leaves, and --undo takes them away", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serveHere();
  const ids = [await post(server.url, endpoint.secret), await post(server.url, endpoint.secret)];
  await server.stop();
  const db = openForTest(machine.database);
  const marks = () => db.prepare("SELECT * FROM submission_read ORDER BY submission_id").all();
  const [owner] = db.prepare("SELECT id, email FROM account").all() as { id: string; email: string }[];
  db.now(() => insertReadRows(owner!.id, ids));
  const expected = marks();
  expect(expected).toHaveLength(2);

  const args = ["submission", "mark-read", ...ids, "--account", owner!.email];
  expect(await machine.json([...args, "--undo"])).toEqual({ ids, read: false });
  expect(marks()).toEqual([]);
  expect(await machine.json(args)).toEqual({ ids, read: true });
  expect(marks()).toEqual(expected);

  db.now(() => insertAccountRows("ben@example.org", NOON));
  const foreign = await machine.run(["submission", "mark-read", ...ids, "--account", "ben@example.org"]);
  expect([foreign.code, marks()]).toEqual([3, expected]);
});
