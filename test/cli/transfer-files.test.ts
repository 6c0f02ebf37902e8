import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { storeChunk } from "../../src/files/brought-file.ts";
import { dropFiles } from "../../src/files/file-store.ts";
import { makeTokenHere } from "../support/machine-database.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { startProgram, whenEnded } from "../support/program.ts";
import { hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { openForTest } from "../support/temporary-database.ts";
import { until } from "../support/until.ts";
import { applicationSchema, pdf, type PostedFacts, postFiles, sha256 } from "../support/uploads.ts";

const schema = { ...applicationSchema, cv: { type: "file", required: true, maxFiles: 5 } };
/** 200 characters, which have 600 bytes. */
const LONG = `${"履".repeat(196)}.pdf`;
const NAMES = ["cv.pdf", "CV.pdf", "../../etc/-rf.pdf", "con.pdf", LONG];

interface Engine {
  readonly name: string;
  readonly machine: () => Promise<OperatorMachine>;
}

const ENGINES: Engine[] = [{ name: "a file", machine: () => Promise.resolve(operatorMachine()) }];
if (hasPostgresql)
  ENGINES.push({
    name: "PostgreSQL",
    machine: async () => operatorMachine({ database: { url: await temporaryAddress() } }),
  });

async function posted(
  machine: OperatorMachine,
  names: readonly string[] = NAMES,
  bytesOf: (index: number) => Buffer = (index) => pdf(300_000 + index, String(index)),
) {
  const endpoint = await machine.createEndpoint({ schema });
  const server = await machine.serveHere();
  const parts = names.map((name, index) => ["cv", { name, bytes: bytesOf(index) }] as const);
  const { id, files } = await postFiles(server, endpoint.secret, [["name", "Ana"], ...parts]);
  return { endpoint, server, id, files };
}

const exportArgs = ["submission", "export", "--format", "ndjson", "--files", "all-files"];

/** The files in a folder and those below it, while somebody still saves some of them. */
function countFiles(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length;
}

/** What is in a folder and those below it, with the SHA-256 of each file. Nobody may change it meanwhile. */
function contentOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name);
      found[path.slice(folder.length + 1)] = sha256(readFileSync(path));
    }
  return found;
}

describe.each(ENGINES)("on $name", ({ machine: make }) => {
  test("an export with its files comes back on another machine with the same ids, names and bytes, whatever the names", async () => {
    const machine = await make();
    const { id, files } = await posted(machine);
    const told = await machine.json([...exportArgs, "--output", "all.ndjson"]);
    expect(told).toEqual({
      exported: 1,
      file: "all.ndjson",
      files: { saved: 5, known: 0, missing: [] },
    });
    const folder = machine.path("all-files");
    const content = contentOf(folder);
    expect(Object.values(content).toSorted()).toEqual(files.map((file) => file.sha256).toSorted());
    const names = Object.keys(content).map((path) => path.slice(id.length + 1));
    expect(names).toEqual(expect.arrayContaining(["cv.pdf", "CV (2).pdf", "-rf.pdf", "_con.pdf"]));
    expect(names.every((name) => Buffer.byteLength(name) <= 255 && name.endsWith(".pdf"))).toBe(true);
    expect(statSync(join(folder, id)).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, id, "cv.pdf")).mode & 0o777).toBe(0o600);

    const other = await make();
    const target = await other.createEndpoint({ schema });
    const args = [machine.path("all.ndjson"), "--endpoint", target.id, "--files", folder];
    const imported = { added: 1, known: 0, files: { added: 5, known: 0, refused: [], refused_count: 0 } };
    expect(await other.json(["submission", "import", ...args])).toEqual({ imported });
    const again = { added: 0, known: 1, files: { added: 0, known: 5, refused: [], refused_count: 0 } };
    expect(await other.json(["submission", "import", ...args])).toEqual({ imported: again });
    const { data } = await other.json<{ data: PostedFacts[] }>(["file", "list", "--submission", id]);
    expect(data.map((file) => file.id).toSorted()).toEqual(files.map((file) => file.id).toSorted());
    await other.mustRun(exportArgs);
    expect(contentOf(other.path("all-files"))).toEqual(content);
  });
});

test("an export that is run again saves what lacks, replaces nothing, and removes what a killed one left", async () => {
  const machine = operatorMachine();
  const { id, files } = await posted(machine);
  const dead = startProgram(machine.folder, ["version"]);
  await whenEnded(dead);
  mkdirSync(machine.path("all-files"));
  const leftover = machine.path(`all-files/.formsvc-unfinished-${dead.pid}`);
  writeFileSync(leftover, "half");
  mkdirSync(machine.path(`all-files/${id}`));
  writeFileSync(machine.path(`all-files/${id}/cv.pdf`), "mine");
  await machine.mustRun([...exportArgs, "--output", "first.ndjson"]);
  expect(existsSync(leftover)).toBe(false);
  const content = contentOf(machine.path("all-files"));
  expect(content[`${id}/cv.pdf`]).toBe(sha256("mine"));
  expect(Object.keys(content)).toHaveLength(6);
  const again = await machine.json<{ files: object }>([...exportArgs, "--output", "second.ndjson"]);
  expect(again.files).toEqual({ saved: 0, known: 5, missing: [] });
  expect(contentOf(machine.path("all-files"))).toEqual(content);
  // A file that is deleted has no name to take: those after it keep theirs.
  await machine.mustRun(["file", "delete", files[0]?.id ?? "", "--yes"]);
  const rest = await machine.json<{ files: object }>([...exportArgs, "--output", "third.ndjson"]);
  expect(rest.files).toEqual({ saved: 0, known: 4, missing: [] });
  expect(contentOf(machine.path("all-files"))).toEqual(content);
});

test("two files with the same bytes and name are both saved, once", async () => {
  const machine = operatorMachine();
  const { id } = await posted(machine, ["cv.pdf", "cv.pdf", "b.pdf"], () => pdf(900));
  for (const output of ["one.ndjson", "two.ndjson"]) {
    await machine.mustRun([...exportArgs, "--output", output]);
    const names = Object.keys(contentOf(machine.path(`all-files/${id}`)));
    expect(names.toSorted()).toEqual(["b.pdf", "cv (2).pdf", "cv.pdf"]);
  }
});

test("an export of files that is killed in the middle and run again is whole", async () => {
  const machine = operatorMachine();
  const { files } = await posted(machine, NAMES, (index) => pdf(2_000_000 + index, String(index)));
  const running = startProgram(machine.folder, [...exportArgs, "--output", "all.ndjson"]);
  const folder = machine.path("all-files");
  await until(() => countFiles(folder) > 1 || running.exitCode !== null);
  running.kill("SIGKILL");
  await whenEnded(running);
  await machine.mustRun([...exportArgs, "--output", "again.ndjson"]);
  expect(Object.values(contentOf(folder)).toSorted()).toEqual(files.map((file) => file.sha256).toSorted());
});

test("an import of files that is killed in the middle and run again gives no doubles and leaves no byte out", async () => {
  const machine = operatorMachine();
  const { files, server } = await posted(machine, NAMES, (index) => pdf(2_000_000 + index, String(index)));
  await machine.mustRun([...exportArgs, "--output", "all.ndjson"]);
  await server.stop();
  const other = operatorMachine();
  const target = await other.createEndpoint({ schema });
  const args = ["submission", "import", machine.path("all.ndjson"), "--endpoint", target.id];
  const withFiles = [...args, "--files", machine.path("all-files")];
  const database = other.open();
  const chunks = database.prepare("SELECT count(*) FROM file_chunk").pluck();
  const running = startProgram(other.folder, withFiles);
  await until(() => Number(chunks.get()) > 10 || running.exitCode !== null);
  running.kill("SIGKILL");
  await whenEnded(running);
  await other.mustRun(withFiles);
  const rows = database.prepare("SELECT id, state FROM file ORDER BY id").all();
  expect(rows).toEqual(files.map(({ id }) => ({ id, state: "stored" })).toSorted(byId));
  await other.mustRun(exportArgs);
  expect(contentOf(other.path("all-files"))).toEqual(contentOf(machine.path("all-files")));
});

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}

test("nothing is saved through a link, nor in the place of what is there, and a folder that cannot be is told before the export", async () => {
  const machine = operatorMachine();
  const { id } = await posted(machine);
  writeFileSync(machine.path("taken"), "mine");
  for (const [folder, complaint] of [
    ["taken", "exists already and is no folder"],
    ["no/where", "no folder for files"],
    ["", "the name of a file is empty"],
  ] as const) {
    const ran = await machine.run(["submission", "export", "--files", folder]);
    expect([folder, ran.code === 0, ran.stdout, ran.stderr.includes(complaint)]).toEqual([
      folder,
      false,
      "",
      true,
    ]);
  }
  mkdirSync(machine.path("elsewhere"));
  mkdirSync(machine.path("linked"));
  symlinkSync(machine.path("elsewhere"), machine.path(`linked/${id}`));
  const ran = await machine.run(["submission", "export", "--files", "linked"]);
  expect([ran.code, readdirSync(machine.path("elsewhere"))]).toEqual([1, []]);
  expect(readFileSync(machine.path("taken"), "utf8")).toBe("mine");
});

test("files that are not those of the export are refused with exit code 1, and brought when they are there again", async () => {
  const machine = operatorMachine();
  const { id } = await posted(machine, ["one.pdf", "two.pdf", "three.pdf"]);
  await machine.mustRun([...exportArgs, "--output", "all.ndjson"]);
  const folder = machine.path(`all-files/${id}`);
  const [one, two, three] = ["one.pdf", "two.pdf", "three.pdf"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  // Whatever lies behind a link is not brought, and changed bytes are not; another name is no matter.
  renameSync(one, machine.path("kept.pdf"));
  symlinkSync(machine.path("kept.pdf"), one);
  const whole = readFileSync(two);
  writeFileSync(two, Buffer.concat([whole.subarray(0, -1), Buffer.from("!")]));
  renameSync(three, join(folder, "renamed.txt"));
  const other = operatorMachine();
  const target = await other.createEndpoint({ schema });
  const args = ["submission", "import", machine.path("all.ndjson"), "--endpoint", target.id];
  const withFiles = [...args, "--files", machine.path("all-files")];
  const ran = await other.run([...withFiles, "--json"]);
  expect([ran.code, ran.json()]).toEqual([
    1,
    {
      imported: {
        added: 1,
        known: 0,
        files: {
          added: 1,
          known: 0,
          refused: ["one.pdf", "two.pdf"].map((name) => ({
            submission_id: id,
            id: expect.stringMatching(/^fil_/) as string,
            name,
            message: "no file with this size and SHA-256 is in the submission's folder",
          })),
          refused_count: 2,
        },
      },
    },
  ]);
  expect(ran.stderr).toContain(
    "2 files could not be added; mend what the lines above say of them, and run it again",
  );
  writeFileSync(two, whole);
  renameSync(machine.path("kept.pdf"), one);
  expect(lstatSync(one).isFile()).toBe(true);
  const { imported } = await other.json<{ imported: { files: object } }>(withFiles);
  expect(imported.files).toEqual({ added: 2, known: 1, refused: [], refused_count: 0 });

  const { data } = await other.json<{ data: PostedFacts[] }>(["file", "list"]);
  await other.mustRun(["file", "delete", data[0]?.id ?? "", "--yes"]);
  const late = await other.json<{ imported: { files: object } }>(withFiles);
  expect(late.imported.files).toEqual({ added: 0, known: 3, refused: [], refused_count: 0 });
});

test("an import takes no file whose content is never let in, or which another submission has", async () => {
  const machine = operatorMachine();
  const { endpoint, id, files } = await posted(machine, ["one.pdf"]);
  const { stdout } = await machine.mustRun(["submission", "export", "--json"]);
  const page = Buffer.from("<!doctype html><script>alert(1)</script>");
  const text = JSON.parse(stdout) as { id: string; data: { cv: PostedFacts[] } };
  const own = { ...text, id: `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}` };
  const fake = { id: "fil_01h455vb4pex5vsknk084sn02q", name: "cv.html", size: page.length };
  const lines = [{ ...fake, type: "text/html", sha256: sha256(page) }, files[0]];
  const hostile = { ...own, data: { name: "Eve", cv: lines } };
  machine.write("hostile.ndjson", JSON.stringify(hostile));
  mkdirSync(machine.path(`files/${own.id}`), { recursive: true });
  writeFileSync(machine.path(`files/${own.id}/cv.html`), page);
  writeFileSync(machine.path(`files/${own.id}/one.pdf`), pdf(300_000, "0"));
  const ran = await machine.run(["submission", "import", "hostile.ndjson", "--files", "files", "--json"]);
  const { imported } = ran.json() as { imported: { files: { refused: { message: string }[] } } };
  expect([ran.code, imported.files.refused.map(({ message }) => message)]).toEqual([
    1,
    ["its content is not text/html, or is never let in", "another submission has a file with this id"],
  ]);
  const rows = machine.open().prepare("SELECT submission_id FROM file").pluck().all();
  expect([rows, endpoint.id.startsWith("ep_")]).toEqual([[id], true]);
});

test("an import leaves a file alone that somebody else is storing under its id, and waits for no pipe in the folder", async () => {
  const machine = operatorMachine();
  const { id, files } = await posted(machine, ["one.pdf"]);
  await machine.mustRun([...exportArgs, "--output", "all.ndjson"]);
  const other = operatorMachine();
  const target = await other.createEndpoint({ schema });
  const [file] = files as [PostedFacts];
  const db = openForTest(other.path("formsvc.db"));
  const own = {
    id: file.id,
    name: "other.pdf",
    type: "application/pdf",
    size: 2,
    sha256: sha256(Buffer.from("ab")),
  };
  const upload = { ...own, endpointId: target.id, createdAt: Date.now() };
  await db.transaction(() => storeChunk(upload, 0, Buffer.from("a")));
  const args = [
    "submission",
    "import",
    machine.path("all.ndjson"),
    "--endpoint",
    target.id,
    "--files",
    "from",
  ];
  mkdirSync(other.path("from"));
  const bring = async () => {
    const ran = await other.run([...args, "--json"]);
    return (ran.json() as { imported: { files: { refused: { message: string }[] } } }).imported.files;
  };
  const whole = readFileSync(machine.path(`all-files/${id}/one.pdf`));
  writeFileSync(other.path(`from/${file.id}`), whole);
  expect((await bring()).refused.map(({ message }) => message)).toEqual([
    "another file with this id is being stored; run the import again in an hour",
  ]);
  expect(other.open().prepare("SELECT bytes FROM file_chunk").pluck().all()).toEqual([Buffer.from("a")]);
  await dropFiles(db, [file.id]);
  rmSync(other.path(`from/${file.id}`));
  execFileSync("mkfifo", [other.path(`from/${file.id}`)]);
  expect((await bring()).refused.map(({ message }) => message)).toEqual([
    "no file with this size and SHA-256 is in the submission's folder",
  ]);
  rmSync(other.path(`from/${file.id}`));
  writeFileSync(other.path(`from/${file.id}`), whole);
  expect(await bring()).toMatchObject({ added: 1, refused: [] });
});

test("a folder of files belongs to an export in NDJSON, must be there, and an import at a distance says where to run it", async () => {
  const machine = operatorMachine();
  const { endpoint, server } = await posted(machine, ["one.pdf"]);
  await machine.mustRun([...exportArgs, "--output", "all.ndjson"]);
  const url = { FORMSVC_SERVER: server.url, FORMSVC_TOKEN: await makeTokenHere(machine.folder) };
  for (const [args, complaint, env] of [
    [["all.ndjson", "--files", "nowhere"], "there is no such folder", {}],
    [["all.ndjson", "--files", "all.ndjson"], "there is no such folder", {}],
    [["all.ndjson", "--files", "all-files", "--format", "csv"], "--files is for an export of formsvc", {}],
    [["all.ndjson", "--files", "all-files"], server.url, url],
  ] as const) {
    const given = ["submission", "import", ...args, "--endpoint", endpoint.id];
    const { code, stderr } = await machine.run(given, { env });
    expect([args, code, stderr.includes(complaint), stderr]).toEqual([args, 2, true, stderr]);
  }
});

test("at a distance an export saves the same files as beside the database", async () => {
  const machine = operatorMachine();
  const { server } = await posted(machine);
  await machine.mustRun([...exportArgs, "--output", "here.ndjson"]);
  const far = operatorMachine();
  const env = { FORMSVC_SERVER: server.url, FORMSVC_TOKEN: await makeTokenHere(machine.folder) };
  await far.mustRun([...exportArgs, "--output", "there.ndjson"], { env });
  expect(contentOf(far.path("all-files"))).toEqual(contentOf(machine.path("all-files")));
  expect(readFileSync(far.path("there.ndjson"), "utf8")).toBe(
    readFileSync(machine.path("here.ndjson"), "utf8"),
  );
});

test.each(["csv", "xlsx", "json"])(
  "an export as %s saves the files of what it exports, and of nothing else",
  async (format) => {
    const machine = operatorMachine();
    const { server, endpoint, id } = await posted(machine, ["one.pdf"]);
    const bytes = pdf(500, "other");
    const second = await postFiles(server, endpoint.secret, [
      ["name", "Ben"],
      ["cv", { name: "b.pdf", bytes }],
    ]);
    await machine.mustRun([
      "submission",
      "export",
      "--format",
      format,
      "--files",
      "both",
      "--output",
      `both.${format}`,
    ]);
    expect(Object.keys(contentOf(machine.path("both"))).toSorted()).toEqual(
      [`${id}/one.pdf`, `${second.id}/b.pdf`].toSorted(),
    );
    const some = ["--search", "Ben", "--files", "some", "--output", `some.${format}`];
    await machine.mustRun(["submission", "export", "--format", format, ...some]);
    expect(Object.keys(contentOf(machine.path("some")))).toEqual([`${second.id}/b.pdf`]);
  },
);
