import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { newId } from "../../src/foundation/id.ts";
import { addSubmission } from "../support/add-submission.ts";
import { isAtDistance } from "../support/distance.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { readZip } from "../support/read-zip.ts";

/** A workspace with two posts, a held one and a file; another workspace with a post of its own. */
async function machineWithTwo() {
  const machine = operatorMachine();
  const { id: endpointId } = await machine.createEndpoint();
  const db = machine.open();
  const workspace = String(db.prepare("SELECT workspace_id FROM endpoint").pluck().get());
  const held = newId("held", Date.now());
  const ids = [1, 2].map((number) => addSubmission(db, { endpointId, createdAt: number }));
  db.prepare(
    `INSERT INTO held (id, workspace_id, endpoint_id, why, trapped, schema_version, data, spam_score, spam_reasons,
       ip_address, user_agent, created_at) VALUES (?, ?, ?, 'spam', 0, 1, '{"name":"Held"}', 90, '[]', '', '', ?)`,
  ).run(held, workspace, endpointId, Date.now());
  const file = "fil_01h455vb4pex5vsknk084sn02q";
  db.prepare(`INSERT INTO file (id, endpoint_id, submission_id, state, name, size, type, sha256, created_at)
      VALUES (?, ?, ?, 'stored', 'cv.txt', 3, 'text/plain', '00', 1)`).run(file, endpointId, ids[0]);
  db.prepare("INSERT INTO file_chunk VALUES (?, 0, ?)").run(file, Buffer.from("abc"));
  const account = String(db.prepare("SELECT email FROM account").pluck().get());
  await machine.mustRun(["workspace", "create", "--name", "Other", "--account", account]);
  return { machine, endpointId, workspace, ids, held, file };
}

test("a workspace is written whole into a new file that only its owner reads, and applied elsewhere after its deletion", async () => {
  const { machine, workspace, ids, held, file } = await machineWithTwo();
  const path = machine.path("client.zip");
  const told = await machine.json(["workspace", "export", workspace, path]);
  expect(told).toEqual({ workspace_id: workspace, path, endpoints: 1, submissions: 2, held: 1, files: 1 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const members = readZip(readFileSync(path));
  expect([...members.keys()]).toEqual([
    "settings.json",
    "submissions.ndjson",
    "held.ndjson",
    `files/${file}`,
  ]);
  const lines = (name: string) =>
    String(members.get(name))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string });
  expect(lines("submissions.ndjson").map(({ id }) => id)).toEqual(ids);
  expect(lines("held.ndjson").map(({ id }) => id)).toEqual([held]);
  expect(String(members.get(`files/${file}`))).toBe("abc");
  for (const [, content] of members) expect(String(content)).not.toMatch(/fsk_|fpk_|whsec_|argon2/);
  const settings = JSON.parse(String(members.get("settings.json"))) as { workspaces: { name: string }[] };
  expect(settings.workspaces).toHaveLength(1);

  await machine.mustRun(["workspace", "delete", workspace, "--yes"]);
  const elsewhere = operatorMachine();
  const applied = elsewhere.write("settings.json", settings);
  await elsewhere.mustRun(["apply", applied, "--env"]);
  const { data } = await elsewhere.json<{ data: { id: string; name: string }[] }>(["endpoint", "list"]);
  expect(data).toHaveLength(1);
  const posts = elsewhere.path("submissions.ndjson");
  writeFileSync(posts, members.get("submissions.ndjson") ?? "");
  await elsewhere.mustRun(["submission", "import", posts, "--endpoint", data[0]?.id ?? ""]);
  const imported = await elsewhere.json<{ data: { id: string }[] }>(["submission", "list"]);
  expect(imported.data.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
});

test("an archive of several forms is brought to where its settings were applied: each post into the form of its name, with its files", async () => {
  const { machine, workspace, ids, held, file } = await machineWithTwo();
  const second = await machine.createEndpoint({ name: 'Ünion "B"', workspace });
  const db = machine.open();
  // Both forms get other ids elsewhere.
  const other = addSubmission(db, { endpointId: second.id, createdAt: 3 });
  const sha256 = createHash("sha256").update("abc").digest("hex");
  const cv = { id: file, name: "cv.txt", size: 3, type: "text/plain", sha256 };
  db.prepare("UPDATE file SET sha256 = ?").run(sha256);
  db.prepare("UPDATE submission SET data = ? WHERE id = ?").run(JSON.stringify({ cv: [cv] }), ids[0]);
  const path = machine.path("client.zip");
  await machine.mustRun(["workspace", "export", workspace, path]);
  const members = readZip(readFileSync(path));
  const elsewhere = operatorMachine();
  mkdirSync(elsewhere.path("files"));
  for (const [name, content] of members) writeFileSync(elsewhere.path(name), content);
  await elsewhere.mustRun(["apply", elsewhere.path("settings.json"), "--env"]);
  const posts = elsewhere.path("submissions.ndjson");
  const bring = ["submission", "import", posts];
  expect((await elsewhere.run(bring)).code).toBe(3);
  const { data: made } = await elsewhere.json<{ data: { name: string; id: string }[] }>(["endpoint", "list"]);
  const [{ name: home } = { name: "" }] = (
    await elsewhere.json<{ data: { name: string }[] }>(["workspace", "list"])
  ).data;
  // A folder is nothing that is sent to a server.
  const folder = isAtDistance ? [] : ["--files", elsewhere.path("files")];
  const files = isAtDistance ? {} : { files: { added: 1, known: 0, refused: [], refused_count: 0 } };
  const told = await elsewhere.json([...bring, "--workspace", home, ...folder]);
  expect(told).toEqual({ imported: { added: 3, known: 0, ...files } });
  const { data } = await elsewhere.json<{ data: { id: string; endpoint_id: string }[] }>([
    "submission",
    "list",
  ]);
  const nameOf = new Map(made.map(({ id, name }) => [id, name]));
  expect(new Map(data.map(({ id, endpoint_id: at }) => [id, nameOf.get(at)]))).toEqual(
    new Map([...ids.map((id) => [id, "Contact"] as const), [other, 'Ünion "B"']]),
  );
  const heldPosts = ["held", "import", elsewhere.path("held.ndjson")];
  expect((await elsewhere.run(heldPosts)).code).toBe(3);
  const heldAgain = await elsewhere.json([...heldPosts, "--workspace", home]);
  expect(heldAgain).toEqual({ imported: { added: 1, known: 0, expired: 0 } });
  expect(await elsewhere.json(["held", "show", held])).toMatchObject({ why: "spam", spam_score: 90 });
  // Once more gives no doubles; a form that is gone is named, and nothing is stored.
  const again = await elsewhere.json([...bring, "--workspace", home]);
  expect(again).toEqual({ imported: { added: 0, known: 3 } });
  await elsewhere.mustRun(["workspace", "create", "--name", "Empty", "--account", "owner@localhost"]);
  const gone = await elsewhere.run([...bring, "--workspace", "Empty"]);
  expect([gone.code, gone.stderr]).toEqual([3, expect.stringContaining("there is no endpoint")]);
});

test("a file that is there stays as it is, and a workspace that is not there leaves none", async () => {
  const { machine, workspace } = await machineWithTwo();
  const path = machine.write("there.zip", "mine");
  const before = readFileSync(path, "utf8");
  const refused = await machine.run(["workspace", "export", workspace, path]);
  expect([refused.code, readFileSync(path, "utf8")]).toEqual([1, before]);
  const unknown = machine.path("unknown.zip");
  expect((await machine.run(["workspace", "export", "nothing", unknown])).code).toBe(3);
  expect((await machine.run(["workspace", "export", workspace])).code).toBe(2);
  expect(() => statSync(unknown)).toThrow("ENOENT");
});
