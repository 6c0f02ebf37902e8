import { describe, expect, test } from "vitest";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { asSubmission, submissionAdder } from "../support/add-submission.ts";
import { addFormOwner } from "../support/form-owner.ts";
import { counts, HEAD, openImport, openSpools, table } from "../support/import-file.ts";
import { until } from "../support/until.ts";

describe("a file is read in its own encoding and with its own separator:", () => {
  const text = (separator: string): string =>
    `created_at;name;email;message\n2026-01-31T10:00:00Z;J\u00f6rg;j@example.org;Gr\u00fc\u00dfe\n`.replaceAll(
      ";",
      separator,
    );
  const bigEndian = (given: string): Buffer => Buffer.from(given, "utf16le").swap16();
  test.each<{ what: string; bytes: Buffer | string; fields?: Record<string, string> }>([
    { what: "UTF-8 with a mark and semicolons", bytes: `\ufeff${text(";")}` },
    { what: "tabs", bytes: text("\t") },
    { what: "UTF-16 with a mark", bytes: Buffer.from(`\ufeff${text(",")}`, "utf16le") },
    { what: "UTF-16 without a mark", bytes: Buffer.from(text(";"), "utf16le") },
    { what: "UTF-16 in the other order without a mark", bytes: bigEndian(text(";")) },
    { what: "Windows-1252", bytes: Buffer.from(text(";"), "latin1"), fields: { encoding: "windows-1252" } },
  ])("$what", async ({ bytes, fields = {} }) => {
    const { server, choose, press } = await openImport();
    expect((await choose({ bytes, fields })).status).toBe(303);
    await press("begin");
    expect(server.stored()).toEqual([
      { name: "J\u00f6rg", email: "j@example.org", message: "Gr\u00fc\u00dfe" },
    ]);
  });
});

test("the export of each service is known by its columns, and an export of our own keeps its ids and is there once", async () => {
  const { server, shown, choose, press, ben } = await openImport();
  const exports: Record<string, string> = {
    formspree: "_id,_date,name,email,message\n1,2026-01-31 10:00:00,Ada,a@example.org,Hi\n",
    google: "Zeitstempel,name,email,message\n2026/01/31 2:05:00 PM GMT+1,Bo,b@example.org,Hi\n",
    netlify:
      '[{"id":"1","created_at":"2026-01-31T10:00:00Z","form_name":"c","data":{"name":"Cy","email":"c@example.org","message":"Hi"}}]',
    csv: table(1),
  };
  for (const [format, bytes] of Object.entries(exports)) {
    expect((await choose({ bytes })).status, format).toBe(303);
    expect(await shown()).toMatch(new RegExp(`<option value="${format}"\\s+selected`));
    await press("begin");
  }
  expect(server.stored().map(({ name }) => name)).toEqual(["Ada", "Bo", "Cy", "Visitor 0"]);
  const [id] = server.owner.prepare("SELECT id FROM submission ORDER BY seq").pluck().all() as string[];
  const lines = (await ben.get("/dashboard/export.json")).text;
  const own = (JSON.parse(lines) as object[]).map((line) => JSON.stringify(line)).join("\n");
  server.owner.execute(`DELETE FROM submission WHERE id = '${id}'`);
  expect((await choose({ bytes: own, name: "all.ndjson" })).status).toBe(303);
  expect(counts(await shown())).toEqual([4, 1, 3, 0]);
  expect(server.stored()).toHaveLength(3);
  await press("begin");
  expect(server.owner.prepare("SELECT count(*) FROM submission WHERE id = ?").pluck().get(id)).toBe(1);
});

test("the page says how many posts get a new id because another workspace has theirs", async () => {
  const { server, shown, choose, press } = await openImport();
  const { endpoint } = await addFormOwner(server, "cy@example.org");
  const taken = asSubmission({ endpointId: endpoint.id });
  submissionAdder(server.owner)(taken);
  const line = submissionJson(taken);
  await choose({ bytes: JSON.stringify(line), name: "all.ndjson" });
  const words = /Of these with a new id, because another workspace has theirs<\/dt><dd class="num">1</u;
  expect(await shown()).toMatch(words);
  await press("begin");
  expect(await shown()).toMatch(words);
});

describe("a file that cannot be imported is refused with what is wrong and what to do, and nothing is stored:", () => {
  test.each<{ what: string; bytes: Buffer | string; said: string; fields?: Record<string, string> }>([
    { what: "an empty one", bytes: "", said: "The file is empty" },
    { what: "blanks alone", bytes: " \n \n", said: "The file is empty" },
    {
      what: "a spreadsheet",
      bytes: Buffer.from("PK\u0003\u0004\u0014\u0000", "latin1"),
      said: "save it as CSV",
    },
    {
      what: "an old spreadsheet",
      bytes: Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]),
      said: "save it as CSV",
    },
    { what: "a PDF", bytes: "%PDF-1.7\n", said: "export the posts as CSV" },
    { what: "a compressed one", bytes: Buffer.from([0x1f, 0x8b, 8, 0]), said: "unpack it first" },
    { what: "a picture", bytes: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0x10]), said: "name its encoding" },
    {
      what: "another encoding",
      bytes: Buffer.from(`${table(1)}\u00fc`, "latin1"),
      said: "name its encoding",
    },
    {
      what: "a wrong encoding",
      bytes: Buffer.from([0x80, 0x81, 0xff]),
      fields: { encoding: "shift_jis" },
      said: "its encoding is another one",
    },
    { what: "columns of no form", bytes: "a,b\n1,2\n", said: "no column is named like a field" },
    {
      what: "a column twice",
      bytes: "created_at,name,name\n2026-01-31,a,b\n",
      said: "&quot;name&quot; stands there twice; rename one",
    },
    {
      what: "quotes that never end",
      bytes: `${table(2)}2026-01-31,"Ada,a@example.org,x\n`,
      said: "line 4: a quote is opened here and never closed",
    },
    { what: "JSON that is none", bytes: '[{"name":', said: "not JSON" },
    {
      what: "lines that are no export",
      bytes: '{"id":1}\n{"id":2}\n',
      fields: { format: "ndjson" },
      said: "line 1",
    },
    { what: "a wrong format", bytes: table(1), fields: { format: "ndjson" }, said: "not JSON" },
  ])("$what", async ({ bytes, said, fields = {} }) => {
    const { server, choose, press, shown } = await openImport();
    const answer = await choose({ bytes, fields });
    expect([answer.status, answer.text.toLowerCase()]).toEqual([
      422,
      expect.stringContaining(said.toLowerCase()) as string,
    ]);
    expect(answer.text).toContain("old posts.csv");
    await press("look");
    expect(server.stored()).toEqual([]);
    // The next file is taken.
    expect((await choose({ bytes: table(1) })).status).toBe(303);
    expect(counts(await shown())).toEqual([1, 1, 0, 0]);
  });

  test("no file, and a form without one", async () => {
    const { choose, ben, address } = await openImport();
    for (const answer of [
      await choose({ bytes: "", name: "" }),
      await ben.post(address, { format: "csv" }),
    ]) {
      expect([answer.status, answer.text.includes("Choose the file first.")]).toEqual([422, true]);
      expect(answer.text).toContain('aria-invalid="true"');
    }
  });

  test("a body that is no form with a file, and one whose end is missing", async () => {
    const { server, ben, address, shown } = await openImport();
    const headers = { cookie: ben.cookie, "sec-fetch-site": "same-origin" };
    const send = (type: string, body: string) =>
      server.request({ method: "POST", path: address, headers: { ...headers, "content-type": type }, body });
    expect((await send("multipart/form-data", "x")).status).toBe(400);
    expect((await send("multipart/form-data; boundary=x", "no part")).status).toBe(400);
    const begun =
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\ncreated_at,name';
    expect((await send("multipart/form-data; boundary=x", begun)).status).toBe(400);
    const long = `--x\r\ncontent-disposition: form-data; name="format"\r\n\r\n${"y".repeat(20_000)}\r\n--x--\r\n`;
    expect((await send("multipart/form-data; boundary=x", long)).status).toBe(413);
    expect((await send("application/json", "{}")).status).toBe(415);
    expect(await shown()).toContain("Look at the file");
    await until(() => openSpools() === 0);
  });
});

test("a cell that begins like a formula is stored as it is, rows with a broken quote are told, and all others come in", async () => {
  const { server, shown, choose, press } = await openImport();
  const bytes = `${HEAD}
2026-01-31T10:00:00Z,"=HYPERLINK(""https://x.example"")",a@example.org,+1
2026-01-31T10:00:00Z,"Bo" and Cy,b@example.org,x
2026-01-31T10:00:00Z,Di,nobody,x
2026-01-31T10:00:00Z,Ed,e@example.org,x,too,many
`;
  await choose({ bytes });
  const text = await shown();
  expect(counts(text)).toEqual([4, 1, 0, 3]);
  for (const said of [
    "A quote ends in the middle of a cell",
    "the row has 6 cells",
    ">3<",
    ">4<",
    ">5<",
    "<bdi>email</bdi>",
  ])
    expect(text.toLowerCase()).toContain(said.toLowerCase());
  await press("begin");
  expect(server.stored()).toEqual([
    { name: '=HYPERLINK("https://x.example")', email: "a@example.org", message: "+1" },
  ]);
});
