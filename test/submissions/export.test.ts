import { execFileSync, spawn } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createExportFile } from "../../src/cli/transfer/export-file.ts";
import { CSV_SEPARATORS, csvHeader, csvRow } from "../../src/submissions/export/csv.ts";
import { technicalColumns } from "../../src/submissions/export/export-columns.ts";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import type { StoredSubmission } from "../../src/submissions/stored/submission-work.ts";
import { importFrom } from "../support/terminal.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { type OperatorMachine, modeOf, operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";
import { asSubmission, type GivenSubmission, submissionAdder } from "../support/add-submission.ts";
import { openForTest } from "../support/temporary-database.ts";

function withData(data: Record<string, unknown>): StoredSubmission {
  return asSubmission({ endpointId: "ep_1", data });
}

function fieldsOf(names: readonly string[]) {
  return { names: new Set(names), hasRest: false, hasSetAside: false, labels: new Map<string, string>() };
}

/** A cell that begins with one of them may be taken for a formula. */
const FORMULA_SIGNS = ["=", "+", "-", "@", "\0", "\t", "\n", "\r", "＝", "＋", "－", "＠"];

const separators = fc.constantFrom(...CSV_SEPARATORS);

test("whatever is posted, a CSV has the same cells when it is read again, and none begins like a formula", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom('"', ",", ";", "a", "'", " ", ...FORMULA_SIGNS) }),
  );
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 5 }), separators, (values, separator) => {
      const fields = values.map((_, index) => `f${index}`);
      const data = Object.fromEntries(values.map((value, index) => [`f${index}`, value]));
      const columns = technicalColumns(fieldsOf(fields));
      const style = { order: "technical", clock: null, separator } as const;
      const text = csvHeader(columns, style) + csvRow(withData(data), columns, style);
      const rows = parseCsv(text, separator);
      expect(rows).toHaveLength(2);
      expect(rows[0]?.slice(7)).toEqual(fields.map((field) => `data.${field}`));
      const cells = rows[1]?.slice(7) ?? [];
      for (const [index, value] of values.entries()) {
        const dangerous = FORMULA_SIGNS.includes(value.replace(/^'+/, "")[0] ?? "");
        expect(cells[index]).toBe(dangerous ? `'${value}` : value);
      }
    }),
  );
});

test("numbers, booleans, objects and lists are JSON in a cell; null and what is missing are empty", () => {
  const data = { n: -5, b: true, o: { a: 1 }, l: [1, "x"], z: null };
  const columns = technicalColumns(fieldsOf(["n", "b", "o", "l", "z", "missing", "toString"]));
  const rows = parseCsv(csvRow(withData(data), columns, { order: "technical", clock: null, separator: "," }));
  expect(rows[0]?.slice(7)).toEqual(["'-5", "true", '{"a":1}', '[1,"x"]', "", "", ""]);
});

async function machineWithPosts(count: number) {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serveHere();
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(await post(server.url, endpoint.secret, { name: `=${index}`, email: `a${index}@example.org` }));
  }
  await server.stop();
  return { machine, endpoint, ids };
}

test("an export has its fixed columns and one for each field, oldest first, and a file of its own with mode 0600", async () => {
  const { machine, endpoint, ids } = await machineWithPosts(3);
  await machine.mustRun(["schema", "set", endpoint.id, "-"], {
    input: '{"email":{"type":"string"},"city":{"type":"string"}}',
  });
  await machine.mustRun(["submission", "export", "--output", "all.csv"]);
  const rows = parseCsv(readFileSync(machine.path("all.csv"), "utf8"));
  const fixed = ["id", "endpoint_id", "created_at", "spam_score", "spam_class", "ip_address", "user_agent"];
  expect(rows[0]).toEqual([...fixed, "data.email", "data.city", "data.name", "data.message"]);
  expect(rows.slice(1).map((row) => row[0])).toEqual(ids);
  expect(rows[1]?.slice(7)).toEqual(["a0@example.org", "", "'=0", ""]);
  expect(modeOf(statSync(machine.path("all.csv")))).toBe("600");
  const again = await machine.run(["submission", "export", "--output", "all.csv"]);
  expect([again.code, again.stderr.includes("exists already")]).toEqual([1, true]);
});

test("one post with thousands of invented members costs no export, and none of them is lost", async () => {
  const { machine, endpoint } = await machineWithPosts(0);
  const members = Array.from({ length: 4000 }, (_, index) => [`invented${index}`, `=${index}`] as const);
  const connection = machine.open();
  const insert = submissionAdder(connection);
  const usual = { name: "Ada", phone: "1", zip: null };
  for (const [index, data] of [usual, Object.fromEntries(members), usual].entries())
    insert(numbered(endpoint.id, index, data));
  connection.close();
  await machine.mustRun(["submission", "export", "--endpoint", endpoint.id, "--output", "all.csv"]);
  const [header = [], first = [], stranger = []] = parseCsv(readFileSync(machine.path("all.csv"), "utf8"));
  expect(header).toHaveLength(7 + 3 + 1000 + 1);
  expect(header.at(-1)).toBe("more_data");
  expect([first[header.indexOf("data.phone")], first.at(-1)]).toEqual(["1", ""]);
  const found = header.flatMap((name, index) =>
    name.startsWith("data.invented") ? [[name.slice(5), stranger[index]?.slice(1)] as const] : [],
  );
  expect(found).toHaveLength(998);
  const all = { ...Object.fromEntries(found), ...(JSON.parse(stranger.at(-1) ?? "") as object) };
  expect(all).toEqual(Object.fromEntries(members));
});

test("filters, limit and cursor choose what is exported, in every format", async () => {
  const { machine, ids } = await machineWithPosts(4);
  const lines = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await machine.mustRun(["submission", "export", "--json", ...args]);
    return stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { id: string }).id);
  };
  expect(await lines()).toEqual(ids);
  expect(await lines("--limit", "2")).toEqual(ids.slice(0, 2));
  expect(await lines("--cursor", ids[1] ?? "")).toEqual(ids.slice(2));
  expect(await lines("--class", "high")).toEqual([]);
  expect(await lines("--until", "2020-01-01")).toEqual([]);
  const array = (await machine.mustRun(["submission", "export", "--format", "json"])).json() as {
    id: string;
  }[];
  expect(array.map(({ id }) => id)).toEqual(ids);
  const none = await machine.mustRun(["submission", "export", "--format", "json", "--class", "high"]);
  expect(none.json()).toEqual([]);
  for (const format of ["csv", "xlsx", "ndjson", "json"]) {
    const refused = await machine.run(["submission", "export", "--cursor", "nonsense", "--format", format]);
    expect([format, refused.code, refused.stdout]).toEqual([format, 2, ""]);
  }
});

function numbered(endpointId: string, index: number, data: StoredSubmission["data"]): GivenSubmission {
  const id = `sub_01${String(index).padStart(24, "0")}`;
  return { id, endpointId, data, ipAddress: "192.0.2.1", createdAt: 1_700_000_000_000 };
}

/** Rows written past the server, because thousands of posts would take long. */
function fill(machine: OperatorMachine, endpointId: string, count: number): void {
  const connection = machine.open();
  const insert = submissionAdder(connection);
  const data = { name: "x".repeat(2500), email: "a@example.org" };
  connection.transaction(() => {
    for (let index = 0; index < count; index += 1) insert(numbered(endpointId, index, data));
  })();
  connection.close();
}

test("an export and an import of 40 MB run in a heap of 46 MB, and an import run twice adds nothing", async () => {
  const machine = operatorMachine();
  const { id } = await machine.createEndpoint();
  fill(machine, id, 16_000);
  // Nearly half of it is the program itself. In 40 MB the import had no room for its garbage now and then.
  const env = { NODE_OPTIONS: "--max-old-space-size=46" };
  for (const format of ["csv", "ndjson"]) {
    const ran = await machine.run(["submission", "export", "--format", format, "--output", `all.${format}`], {
      env,
    });
    expect([ran.code, ran.stderr]).toEqual([0, `16000 submissions exported to all.${format}\n`]);
    expect(statSync(machine.path(`all.${format}`)).size).toBeGreaterThan(40_000_000);
  }
  const other = operatorMachine();
  const target = await other.createEndpoint();
  const file = machine.path("all.ndjson");
  const refused = await other.run(["submission", "import", file]);
  expect([refused.code, refused.stderr.includes("choose one with --endpoint")]).toEqual([3, true]);
  const args = ["submission", "import", file, "--endpoint", target.id, "--json"];
  expect(JSON.parse((await other.run(args, { env })).stdout)).toEqual({
    imported: { added: 16_000, known: 0 },
  });
  expect(JSON.parse((await other.run(args, { env })).stdout)).toEqual({
    imported: { added: 0, known: 16_000 },
  });
}, 300_000);

test("of two exports to one name the later to finish is refused, and no link is replaced", () => {
  const machine = operatorMachine();
  const name = machine.path("all.csv");
  const mine = createExportFile(name);
  mine.text("mine");
  writeFileSync(name, "another's");
  expect(() => mine.finish()).toThrow(/exists already/);
  mine.abandon();
  expect(readFileSync(name, "utf8")).toBe("another's");

  symlinkSync("nothing", machine.path("link.csv"));
  const linked = createExportFile(machine.path("link.csv"));
  expect(() => linked.finish()).toThrow(/exists already/);
  linked.abandon();
  expect(lstatSync(machine.path("link.csv")).isSymbolicLink()).toBe(true);
  expect(readdirSync(machine.folder).sort()).toEqual(["all.csv", "formsvc.config.json", "link.csv"]);
});

test("an import has the same submissions, ids, times and scores as what was exported", async () => {
  const { machine, ids } = await machineWithPosts(3);
  const exported = await machine.mustRun(["submission", "export", "--format", "ndjson"]);
  const other = operatorMachine();
  const target = await other.createEndpoint();
  writeFileSync(other.path("all.ndjson"), exported.stdout);
  await other.mustRun(["submission", "import", "all.ndjson", "--endpoint", "Contact"]);
  const again = await other.mustRun(["submission", "export", "--format", "ndjson"]);
  const strip = (text: string) => text.replaceAll(/"endpoint_id":"\w+"/g, "");
  expect(strip(again.stdout)).toBe(strip(exported.stdout));
  expect(again.stdout.split("\n").filter((line) => line.includes(target.id))).toHaveLength(ids.length);
});

test("a pipe is refused like standard input, because it can be read only once", async () => {
  const { machine } = await machineWithPosts(1);
  writeFileSync(
    machine.path("all.ndjson"),
    (await machine.mustRun(["submission", "export", "--format", "ndjson"])).stdout,
  );
  execFileSync("mkfifo", [machine.path("pipe")]);
  const writer = spawn("sh", ["-c", "cat all.ndjson > pipe"], { cwd: machine.folder });
  onTestFinished(() => void writer.kill("SIGKILL"));
  for (const [name, shown] of [
    ["pipe", "pipe"],
    ["-", "standard input"],
  ] as const) {
    const ran = await machine.run(["submission", "import", name]);
    expect([ran.code, ran.stderr]).toEqual([
      2,
      expect.stringContaining(`${shown} cannot be imported: the file is read twice`),
    ]);
  }
});

test("an imported line may nest as deep as a post and no deeper", async () => {
  const { machine, endpoint } = await machineWithPosts(0);
  const lineOf = (id: string, levels: number): string => {
    const line = { ...exportedLine, id, endpoint_id: endpoint.id, data: { name: "NESTED" } };
    return JSON.stringify(line).replace('"NESTED"', `${"[".repeat(levels - 1)}1${"]".repeat(levels - 1)}`);
  };
  const ids = ["sub_01h2xcejqtf2nbrexx3vqjhp41", "sub_01h2xcejqtf2nbrexx3vqjhp42"] as const;
  writeFileSync(machine.path("deep"), `${lineOf(ids[0], 2)}\n${lineOf(ids[1], 33)}\n`);
  const refused = await machine.run(["submission", "import", "deep"]);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("line 2: data: nests deeper than 32"),
  ]);
  writeFileSync(machine.path("allowed"), lineOf(ids[1], 32));
  await machine.mustRun(["submission", "import", "allowed"]);
  expect((await machine.mustRun(["submission", "export"])).stdout).toContain(ids[1]);
});

const exportedLine = submissionJson(
  asSubmission({ endpointId: "", createdAt: Date.parse("2026-01-31T12:00:00.000Z") }),
);

test("an imported line has no number that JSON cannot write again, and no reason that no score has", async () => {
  const { machine, endpoint } = await machineWithPosts(0);
  const good = JSON.stringify({
    ...exportedLine,
    id: "sub_01h2xcejqtf2nbrexx3vqjhp41",
    endpoint_id: endpoint.id,
    data: { name: ["NUMBER"] },
    spam_score: 3,
    spam_reasons: [{ signal: "links", points: 3, field: null, detail: "one link" }],
  }).replace('"NUMBER"', "1e300");
  const wrong = [
    [good.replace("1e300", "1e400"), "data: has a number beyond the range of a 64-bit float"],
    [good.replace("1e300", "-1e400"), "data: has a number beyond"],
    [good.replace('"points":3', '"points":1e400'), "spam_reasons.0.points: "],
    [good.replace('"points":3', '"points":"3"'), "spam_reasons.0.points: "],
    [good.replace('"points":3,', ""), "spam_reasons.0.points: "],
    [good.replace('"links"', "7"), "spam_reasons.0.signal: "],
    [good.replace('"field":null', '"field":{}'), "spam_reasons.0.field: "],
    [good.replace('"one link"', "null"), "spam_reasons.0.detail: "],
    [good.replace('"points":3', '"points":3,"more":1'), "spam_reasons.0.more: "],
  ] as const;
  const db = openForTest(machine.path("formsvc.db"));
  const file = machine.path("lines");
  for (const [line, message] of wrong) {
    writeFileSync(file, `${good}\n${line}\n`);
    await expect(importFrom(db, file)).rejects.toThrow(`line 2: ${message}`);
  }
  writeFileSync(file, good);
  expect(await importFrom(db, file)).toEqual({ added: 1, known: 0 });
});

test("a file with one wrong line is named with it, and nothing of it is imported", async () => {
  const { machine } = await machineWithPosts(2);
  const exported = (await machine.mustRun(["submission", "export", "--format", "ndjson"])).stdout;
  await machine.mustRun(["endpoint", "rename", "Contact", "Renamed"]);
  const connection = machine.open();
  connection.exec("DELETE FROM submission");
  connection.close();
  const wrong = {
    csv: "id,endpoint_id\r\n",
    score: exported.replace(/"spam_score":\d+/g, '"spam_score":101'),
  };
  for (const [name, text] of Object.entries(wrong)) {
    writeFileSync(machine.path(name), `${exported}${text}`);
    const ran = await machine.run(["submission", "import", name]);
    expect([ran.code, /line 3/.test(ran.stderr)]).toEqual([2, true]);
  }
  expect((await machine.run(["submission", "import", "missing"])).code).toBe(2);
  expect((await machine.mustRun(["submission", "export", "--format", "ndjson"])).stdout).toBe("");
  expect(readdirSync(machine.folder).filter((name) => name.includes("unfinished"))).toEqual([]);
});

test("a file with semicolons is asked for by a flag, which no other format takes", async () => {
  const machine = operatorMachine();
  const form = await machine.createEndpoint();
  const server = await machine.serveHere();
  await post(server.url, form.secret, { name: "Ana; Ben, Cleo", email: "ana@example.org" });
  await server.stop();
  const { stdout } = await machine.mustRun(["submission", "export", "--separator", ";"]);
  const [headings = [], cells = []] = parseCsv(stdout, ";");
  expect(headings.slice(0, 2)).toEqual(["id", "endpoint_id"]);
  expect(cells[headings.indexOf("data.name")]).toBe("Ana; Ben, Cleo");
  for (const wrong of [
    ["--separator", "|"],
    ["--separator", ";", "--format", "json"],
  ]) {
    const { code, stderr, stdout: none } = await machine.run(["submission", "export", ...wrong]);
    expect([code, none]).toEqual([2, ""]);
    expect(stderr).toMatch(/separator/);
  }
});
