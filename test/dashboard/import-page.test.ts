import { readdirSync, readlinkSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { MAX_IMPORT_BYTES } from "../../src/submissions/import-spool.ts";
import { addFormOwner, type FormOwner } from "../support/form-owner.ts";
import { HOSTILE_TEXTS } from "../support/hostile-values.ts";
import { type ChosenFile, importPage, sendFile } from "../support/import-file.ts";
import { READER } from "../support/members.ts";
import { formsIn } from "../support/page-forms.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

const HEAD = "created_at,name,email,message";
const row = (number: number): string =>
  `2026-01-31T10:00:00Z,Visitor ${number},v${number}@example.org,"Row, ${number}"`;
const table = (rows: number): string =>
  `${HEAD}\n${Array.from({ length: rows }, (_, number) => row(number)).join("\n")}\n`;

async function open() {
  const server = await startServer();
  // The first account is the operator.
  await visit(server, "operator@example.com");
  const ben = await addFormOwner(server, "ben@example.org");
  return { server, ben, ...pagesFor(server, ben) };
}

function pagesFor(server: TestServer, ben: FormOwner) {
  const address = importPage(ben);
  const shown = async (): Promise<string> => (await ben.get(address)).text;
  return {
    address,
    shown,
    choose: (file: ChosenFile) => sendFile(server, ben, address, file),
    /** Sends the form that the page has, with other choices. */
    press: async (button: "look" | "begin", choices: Record<string, string> = {}) => {
      const form = formsIn(await shown(), address).find(({ action }) => action === `${address}/${button}`);
      return ben.post(`${address}/${button}`, { ...Object.fromEntries(form?.fields ?? []), ...choices });
    },
  };
}

/** Files without a name that this process still has open. */
function openSpools(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes(".formsvc-upload-");
    } catch {
      return false;
    }
  }).length;
}

/** What the page counts, in its order. */
function counts(text: string): number[] {
  const [, facts = ""] = /<dl class="facts">([\s\S]*?)<\/dl>/.exec(text) ?? [];
  return [...facts.matchAll(/<dd class="num">([\d,\s]+)<\/dd>/g)].map(([, count = ""]) =>
    Number(count.replaceAll(/\D/g, "")),
  );
}

test("a file is looked at before anything is stored, then imported as it was shown, and twice makes no doubles", async () => {
  const { server, shown, choose, press, ben, address } = await open();
  expect(await shown()).toContain('enctype="multipart/form-data"');
  const looked = await choose({ bytes: `${table(3)}yesterday,Late,late@example.org,x\n` });
  expect([looked.status, looked.headers["location"]]).toEqual([303, address]);
  const text = await shown();
  expect(counts(text)).toEqual([4, 3, 0, 1]);
  expect(text).toContain("old posts.csv");
  expect(text).toMatch(
    /<td class="num" data-label="Line">5<\/td>[\s\S]*created_at[\s\S]*Not a time; expected/,
  );
  expect(server.stored()).toEqual([]);
  const { fields = [] } = formsIn(text, address).find(({ action }) => action.endsWith("/begin")) ?? {};
  expect((await press("begin")).status).toBe(303);
  expect(counts(await shown())).toEqual([4, 3, 0, 1]);
  expect(await shown()).toContain("3 posts imported");
  // The second press sends the form that the first one sent.
  expect((await ben.post(`${address}/begin`, Object.fromEntries(fields))).status).toBe(303);
  expect(server.stored().map(({ name }) => name)).toEqual(["Visitor 0", "Visitor 1", "Visitor 2"]);
  await choose({ bytes: table(4) });
  expect(counts(await shown())).toEqual([4, 1, 3, 0]);
  await press("begin");
  expect(server.stored()).toHaveLength(4);
});

test("columns are chosen on the page, which shows again what would happen before it imports", async () => {
  const { server, shown, choose, press } = await open();
  const head = "Wann,Wer,E-Mail,message,=cmd|' /C calc'!A0\n";
  expect((await choose({ bytes: `${head}2026-01-31 10:00,Ada,a@example.org,Hello,x\n` })).status).toBe(422);
  // No column is the time: what was found is there to be changed after another choice.
  const answer = await choose({
    bytes: `created_at,Wer,email,message\n2026-01-31 10:00,Ada,a@example.org,Hi\n`,
  });
  expect(answer.status).toBe(303);
  expect(counts(await shown())).toEqual([1, 0, 0, 1]);
  const columns = formsIn(await shown(), "")
    .flatMap(({ fields }) => fields)
    .filter(([name]) => name.startsWith("column_"));
  expect(columns.slice(0, 4)).toEqual([
    ["column_0", "created_at"],
    ["column_1", ""],
    ["column_2", "email"],
    ["column_3", "message"],
  ]);
  expect((await press("look", { column_1: "name" })).status).toBe(303);
  expect(counts(await shown())).toEqual([1, 1, 0, 0]);
  // Who changes something and presses "Import" sees first what that would do.
  expect((await press("begin", { column_1: "" })).status).toBe(303);
  expect(server.stored()).toEqual([]);
  expect(counts(await shown())).toEqual([1, 0, 0, 1]);
  await press("look", { column_1: "name" });
  await press("begin");
  expect(server.stored()).toEqual([{ name: "Ada", email: "a@example.org", message: "Hi" }]);
});

test("a file whose time has another name is mapped on the page, without choosing the file again", async () => {
  const { server, shown, choose, press, address, ben } = await open();
  const answer = await choose({ bytes: "When,name,email,message\n31.01.2026 14:05,Ada,a@example.org,Hi\n" });
  expect([answer.status, answer.text]).toEqual([
    422,
    expect.stringContaining("no column has the time") as string,
  ]);
  const form = formsIn(answer.text, address).find(({ action }) => action === `${address}/look`);
  const fields = { ...Object.fromEntries(form?.fields ?? []), column_0: "created_at" };
  expect((await ben.post(`${address}/look`, fields)).status).toBe(303);
  expect(counts(await shown())).toEqual([1, 1, 0, 0]);
  await press("begin");
  expect(server.stored()).toHaveLength(1);
});

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
    const { server, choose, press } = await open();
    expect((await choose({ bytes, fields })).status).toBe(303);
    await press("begin");
    expect(server.stored()).toEqual([
      { name: "J\u00f6rg", email: "j@example.org", message: "Gr\u00fc\u00dfe" },
    ]);
  });
});

test("the export of each service is known by its columns, and an export of our own keeps its ids and is there once", async () => {
  const { server, shown, choose, press, ben } = await open();
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
    const { server, choose, press, shown } = await open();
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
    const { choose, ben, address } = await open();
    for (const answer of [
      await choose({ bytes: "", name: "" }),
      await ben.post(address, { format: "csv" }),
    ]) {
      expect([answer.status, answer.text.includes("Choose the file first.")]).toEqual([422, true]);
      expect(answer.text).toContain('aria-invalid="true"');
    }
  });

  test("a body that is no form with a file, and one whose end is missing", async () => {
    const { server, ben, address, shown } = await open();
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
  const { server, shown, choose, press } = await open();
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

test("a page of an earlier file imports nothing, and one of before a restart asks for the file again", async () => {
  const { server, ben, choose, address, shown } = await open();
  await choose({ bytes: table(1) });
  const old = Object.fromEntries(
    formsIn(await shown(), address).find(({ action }) => action.endsWith("/begin"))?.fields ?? [],
  );
  await choose({ bytes: table(2) });
  const answer = await ben.post(`${address}/begin`, old);
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("Choose it again") as string]);
  const current = Object.fromEntries(
    formsIn(await shown(), address).find(({ action }) => action.endsWith("/begin"))?.fields ?? [],
  );
  await server.restart();
  expect((await ben.post(`${address}/begin`, current)).status).toBe(422);
  expect(server.stored()).toEqual([]);
  expect(openSpools()).toBe(0);
});

test("a form that was deleted meanwhile takes nothing, and nothing of it is left", async () => {
  const { server, ben, choose, shown, address } = await open();
  await choose({ bytes: table(3) });
  const fields = Object.fromEntries(
    formsIn(await shown(), address).find(({ action }) => action.endsWith("/begin"))?.fields ?? [],
  );
  server.owner.execute(`DELETE FROM endpoint WHERE id = '${ben.endpoint.id}'`);
  expect((await ben.post(`${address}/begin`, fields)).status).toBe(404);
  expect((await sendFile(server, ben, address, { bytes: table(3) })).status).toBe(404);
  expect((await ben.get(address)).status).toBe(404);
  expect(server.owner.prepare("SELECT count(*) FROM submission").pluck().get()).toBe(0);
  expect(server.owner.prepare("SELECT count(*) FROM imported_row").pluck().get()).toBe(0);
});

test("a reader, a stranger and who is not signed in send no byte of a file", async () => {
  const { server, ben, address } = await open();
  const [reader, stranger] = [await visit(server, "rea@example.com"), await visit(server, "eve@example.com")];
  const place = { workspaceId: ben.endpoint.workspaceId, accountId: reader.accountId };
  await server.owner.transaction(() => storeMember(place, READER, { since: 1, byAccountId: null }));
  for (const [who, status] of [
    [reader, 403],
    [stranger, 404],
    [{ cookie: "none=1" }, 401],
  ] as const) {
    const file = { bytes: table(3) };
    expect((await sendFile(server, who, address, file)).status).toBe(status);
  }
  expect((await reader.get(address)).status).toBe(403);
  expect(openSpools()).toBe(0);
  expect(server.stored()).toEqual([]);
});

/** Sends the head of a form with a file that would be this long, and waits for the answer to it. */
function announce({ url }: TestServer, { cookie }: FormOwner, path: string, bytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, {
      method: "POST",
      headers: {
        cookie,
        "sec-fetch-site": "same-origin",
        "content-type": "multipart/form-data; boundary=x",
        "content-length": bytes,
      },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      sent
        .off("error", reject)
        .on("error", () => undefined)
        .destroy();
      resolve(response.statusCode ?? 0);
    });
    sent.flushHeaders();
  });
}

test("a file that is too large by its length is refused before a byte of it came", async () => {
  const { server, ben, address } = await open();
  expect(await announce(server, ben, address, MAX_IMPORT_BYTES + 100_000)).toBe(413);
  const stranger = { ...ben, ...(await visit(server, "eve@example.com")) };
  expect(await announce(server, stranger, address, 1000)).toBe(404);
  expect(await announce(server, { ...ben, cookie: "none=1" }, address, 1000)).toBe(401);
  expect(openSpools()).toBe(0);
});

test("an import that breaks off in the middle goes on with the same file, and no row is doubled or left out", async () => {
  const { server, choose, shown, press } = await open();
  await choose({ bytes: table(10_000) });
  server.owner
    .execute(`CREATE TRIGGER break_off BEFORE INSERT ON submission WHEN (SELECT count(*) FROM submission) >= 3210
    BEGIN SELECT RAISE(ABORT, 'broken off'); END`);
  const broken = await press("begin");
  expect([broken.status, broken.text]).toEqual([
    422,
    expect.stringContaining("The import stopped") as string,
  ]);
  expect(broken.text).not.toContain("broken off");
  // Rows of one transaction come together.
  expect(server.stored()).toHaveLength(3000);
  server.owner.execute("DROP TRIGGER break_off");
  expect((await press("look")).status).toBe(303);
  expect(counts(await shown())).toEqual([10_000, 7000, 3000, 0]);
  await press("begin");
  expect(new Set(server.stored().map(({ name }) => name)).size).toBe(10_000);
  expect(server.stored()).toHaveLength(10_000);
});

test("an import that goes on tells how far it is, and a second press or another file does not disturb it", async () => {
  const { server, ben, choose, shown, press, address } = await open();
  await choose({ bytes: table(6000) });
  const fields =
    formsIn(await shown(), address).find(({ action }) => action.endsWith("/begin"))?.fields ?? [];
  const begun = press("begin");
  await until(() => server.stored().length > 0);
  const [told, second, other] = await Promise.all([
    shown(),
    ben.post(`${address}/begin`, Object.fromEntries(fields)),
    choose({ bytes: table(1) }),
  ]);
  expect(told).toMatch(/is imported<\/h2>[\s\S]*of 6,000 rows so far/);
  expect([second.status, other.status]).toEqual([303, 429]);
  expect(other.text).toContain("Another import of yours goes on");
  expect((await begun).status).toBe(303);
  expect((await ben.get(`${address}?wait=1`)).text).toContain("6000 posts imported");
  expect(server.stored()).toHaveLength(6000);
});

test("who leaves in the middle of a file leaves nothing, and can send it again", async () => {
  const { server, ben, choose, address, shown } = await open();
  const sent = httpRequest(`${server.url}${address}`, {
    method: "POST",
    headers: {
      cookie: ben.cookie,
      "sec-fetch-site": "same-origin",
      "content-type": "multipart/form-data; boundary=x",
    },
  });
  sent.on("error", () => undefined);
  sent.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n');
  sent.write(table(8000));
  await until(() => openSpools() === 1);
  sent.destroy();
  await until(() => openSpools() === 0);
  await choose({ bytes: table(8000) });
  expect(counts(await shown())).toEqual([8000, 8000, 0, 0]);
});

test("hostile names of files and columns, and hostile cells, are shown as text", async () => {
  const { choose, shown, press } = await open();
  for (const value of HOSTILE_TEXTS) {
    const cell = `"${value.replaceAll('"', '""')}"`;
    const bytes = `created_at,name,email,message,${cell}\n2026-01-31,${cell},${cell},${cell},x\n${cell},a,b,c,d\n`;
    const answer = await choose({ bytes, name: `${value.replaceAll(/[\r\n"]/g, "")}.csv` });
    expect([200, 303, 422]).toContain(answer.status);
    for (const text of [answer.text, await shown(), (await press("look")).text])
      expect(text).not.toMatch(/<x-evil|<script>|<img class="x-evil"|<base |\u202e|onmouseover='x-evil'/);
  }
});
