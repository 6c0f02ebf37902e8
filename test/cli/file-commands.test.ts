import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { applicationSchema, pdf, type PostedFacts, postFiles, sha256 } from "../support/uploads.ts";

async function machineWithFiles() {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema: applicationSchema });
  const server = await machine.serveHere();
  const cv = pdf(600_000);
  const { id, files } = await postFiles(server, endpoint.secret, [
    ["name", "Ana"],
    ["cv", { name: "cv Ü.pdf", bytes: cv }],
    ["cv", { name: "-rf.pdf", bytes: pdf(3000, "b") }],
  ]);
  const [first, second] = files as [PostedFacts, PostedFacts];
  return { machine, endpoint, server, cv, submission: id, first, second };
}

test("file list and show tell of files, and file save writes the bytes into a new file of mode 0600", async () => {
  const { machine, endpoint, cv, submission, first, second } = await machineWithFiles();
  const { data } = await machine.json<{ data: PostedFacts[] }>(["file", "list", "--endpoint", endpoint.id]);
  expect(data.map(({ id }) => id)).toEqual([second.id, first.id]);
  const plain = await machine.mustRun(["file", "list", "--submission", submission, "--limit", "1"]);
  expect(plain.stdout).toContain(second.id);
  expect(plain.stderr).toContain("more with: --cursor");
  expect((await machine.mustRun(["file", "show", first.id])).stdout).toMatch(
    /^size +586 KB \(600000 bytes\)$/m,
  );
  const shown = await machine.json<{ file: PostedFacts }>(["file", "show", first.id]);
  expect(shown.file).toMatchObject({
    name: "cv Ü.pdf",
    size: 600_000,
    sha256: sha256(cv),
    submission_id: submission,
  });

  const named = machine.path("saved.pdf");
  expect(await machine.json(["file", "save", first.id, named])).toMatchObject({ path: named });
  expect(sha256(readFileSync(named))).toBe(sha256(cv));
  expect(statSync(named).mode & 0o777).toBe(0o600);
  await machine.mustRun(["file", "save", first.id]);
  expect(sha256(readFileSync(machine.path("cv Ü.pdf")))).toBe(sha256(cv));
  // A stranger's name becomes no flag of the next command.
  await machine.mustRun(["file", "save", second.id]);
  expect(readdirSync(machine.folder)).toContain(`${second.id}-rf.pdf`);
  const piped = await machine.mustRun(["file", "save", second.id, "-"]);
  expect(piped.stdout.startsWith("%PDF-1.7")).toBe(true);
});

test("file save replaces no file and leaves nothing behind, and what is wrong is told with its exit code", async () => {
  const { machine, first } = await machineWithFiles();
  writeFileSync(machine.path("mine.pdf"), "mine");
  const taken = await machine.run(["file", "save", first.id, machine.path("mine.pdf")]);
  expect([taken.code, readFileSync(machine.path("mine.pdf"), "utf8")]).toEqual([1, "mine"]);
  expect(taken.stderr).toContain("mine.pdf");
  expect((await machine.run(["file", "save", first.id, join(machine.folder, "no", "where.pdf")])).code).toBe(
    2,
  );
  expect((await machine.run(["file", "save", first.id, "-", "--json"])).code).toBe(2);
  expect((await machine.run(["file", "save", first.id, ""])).code).toBe(2);
  for (const verb of ["show", "save", "delete"]) {
    const none = await machine.run([
      "file",
      verb,
      "fil_00000000000000000000000000",
      ...(verb === "delete" ? ["--yes"] : []),
    ]);
    expect([none.code, none.stderr.includes("there is no file")]).toEqual([3, true]);
  }
  expect((await machine.run(["file", "delete", first.id])).code).toBe(2);
  expect(readdirSync(machine.folder).filter((name) => name.includes("unfinished"))).toEqual([]);
});

test("file delete deletes the bytes at once, and the submission says so", async () => {
  const { machine, submission, first, second } = await machineWithFiles();
  expect(await machine.json(["file", "delete", first.id, "--yes"])).toEqual({ deleted: first.id });
  const db = machine.open();
  expect(db.prepare("SELECT DISTINCT file_id FROM file_chunk").pluck().all()).toEqual([second.id]);
  const { data } = await machine.json<{ data: { cv: PostedFacts[] } }>(["submission", "show", submission]);
  expect(data.cv).toEqual([{ ...first, state: "deleted" }, second]);
  expect((await machine.run(["file", "save", first.id])).code).toBe(3);
  const changes = db
    .prepare("SELECT action, subject, email FROM audit_event WHERE action LIKE 'file.%'")
    .all();
  expect(changes).toEqual([{ action: "file.delete", subject: first.id, email: null }]);
});
