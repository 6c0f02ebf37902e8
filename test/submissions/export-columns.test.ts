import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { submissionAdder } from "../support/add-submission.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { readSheet } from "../support/read-xlsx.ts";

test("CSV without options has the bytes that it always had", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const connection = machine.open();
  const insert = submissionAdder(connection);
  const given = {
    endpointId: endpoint.id,
    createdAt: Date.parse("2026-01-31T23:30:00.500Z"),
    userAgent: "a,b",
  };
  const setAside = { fields: { beside: 1 }, dropped: 0 };
  const id = insert({ ...given, data: { name: "=1", email: "a@b.c", n: 1.5, l: ["x"] }, setAside });
  connection.close();
  const { stdout } = await machine.mustRun(["submission", "export", "--endpoint", endpoint.id]);
  expect(stdout).toBe(
    "id,endpoint_id,created_at,spam_score,spam_class,ip_address,user_agent,data.name,data.email,data.message,data.l,data.n,unknown_fields\r\n" +
      `${id},${endpoint.id},2026-01-31T23:30:00.500Z,0,low,,"a,b",'=1,a@b.c,,"[""x""]",1.5,"{""beside"":1}"\r\n`,
  );
});

test("for people a table has when, form and fields first, headed by their labels, in the zone that they name", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const connection = machine.open();
  connection
    .prepare("UPDATE endpoint_schema SET definition = ? WHERE endpoint_id = ?")
    .run(
      '{"name":{"type":"string","label":"Your name"},"sizes":{"type":"array","items":{"type":"string"},"label":"Your name"}}',
      endpoint.id,
    );
  const insert = submissionAdder(connection);
  const id = insert({
    endpointId: endpoint.id,
    createdAt: Date.parse("2026-07-31T23:30:00Z"),
    data: { name: "Ana; Ruiz", sizes: ["S", "M"], extra: [{ id: "fil_1", name: "cv.pdf" }] },
  });
  const workspace = String(connection.prepare("SELECT id FROM workspace").pluck().get());
  connection.close();
  const run = async (...args: string[]) => (await machine.mustRun(["submission", "export", ...args])).stdout;
  const technical = [
    "State",
    "Assigned to",
    "Notes",
    "Spam score",
    "Spam class",
    "IP address",
    "Browser",
    "Id",
    "Form id",
  ];
  const values = ["open", "", "", "0", "low", "", "", id, endpoint.id];
  const fields = ["Your name", "Your name (2)", "extra"];
  const people = parseCsv(
    await run("--columns", "people", "--separator", ";", "--time-zone", "asia/tokyo"),
    ";",
  );
  expect(people).toEqual([
    ["When (Asia/Tokyo)", "Form", ...fields, ...technical],
    ["2026-08-01 08:30:00", "Contact", "Ana; Ruiz", "S, M", "cv.pdf", ...values],
  ]);
  const labelled = parseCsv(await run("--labels", "--time-zone", "America/New_York"));
  expect(labelled.map((row) => row.slice(7))).toEqual([
    ["Your name", "Your name (2)", "data.extra"],
    ["Ana; Ruiz", '["S","M"]', '[{"id":"fil_1","name":"cv.pdf"}]'],
  ]);
  expect(labelled.map((row) => row[2])).toEqual(["created_at", "2026-07-31T19:30:00.000-04:00"]);
  await machine.mustRun(["workspace", "set", workspace, "--time-zone", "Europe/Berlin"]);
  const own = parseCsv(await run("--columns", "people", "--endpoint", endpoint.id));
  expect(own.map(([when]) => when)).toEqual(["When (Europe/Berlin)", "2026-08-01 01:30:00"]);
  await machine.mustRun(["submission", "export", "--format", "xlsx", "--output", "all.xlsx"]);
  const book = readSheet(readFileSync(machine.path("all.xlsx")));
  expect(book[0]).toEqual(["When (Europe/Berlin)", "Form", ...fields, ...technical]);
  expect(book[1]?.slice(1, 5)).toEqual(["Contact", "Ana; Ruiz", "S, M", "cv.pdf"]);
});

test("tables for people have state, assignee and notes, with their times in the zone of the table", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const connection = machine.open();
  const id = submissionAdder(connection)({ endpointId: endpoint.id, data: { name: "Ana" } });
  const account = String(connection.prepare("SELECT email FROM account").pluck().get());
  await machine.mustRun(["submission", "set", id, "--state", "done", "--assignee", account]);
  await machine.mustRun(["submission", "note", id, "=Called back"]);
  connection.exec("UPDATE submission_note SET created_at = 1785456000000, author = 'bo@example.com'");
  connection.close();
  const run = async (...args: string[]) => (await machine.mustRun(["submission", "export", ...args])).stdout;
  const [heading = [], row = []] = parseCsv(await run("--columns", "people", "--time-zone", "Europe/Berlin"));
  const cell = (name: string) => row[heading.indexOf(name)];
  const note = "2026-07-31 02:00:00 bo@example.com: =Called back";
  expect(["State", "Assigned to", "Notes"].map(cell)).toEqual(["done", account, note]);
  const [technical = []] = parseCsv(await run());
  expect(technical).not.toContain("notes");
});

test("a table that cannot be made is refused with what to choose, and no file is left", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  for (const [args, complaint] of [
    [["--format", "xlsx", "--separator", ";"], "a separator is for csv, and the format is xlsx"],
    [["--format", "xlsx", "--columns", "technical"], "xlsx has its columns in the order for people"],
    [["--format", "json", "--labels"], "labels can be chosen for csv and xlsx, and the format is json"],
    [["--format", "ndjson", "--columns", "people"], "columns can be chosen for csv and xlsx"],
    [["--json", "--time-zone", "Europe/Berlin"], "a time zone can be chosen for csv and xlsx"],
    [["--time-zone", "Mars/Base"], 'not a time zone: "Mars/Base"'],
    [["--columns", "mine"], "allowed choices are technical, people"],
  ] as const) {
    const { code, stderr } = await machine.run(["submission", "export", ...args, "--output", "new.file"]);
    expect([args, code, stderr.includes(complaint), stderr]).toEqual([args, 2, true, stderr]);
  }
  expect(readdirSync(machine.folder)).not.toContain("new.file");
});
