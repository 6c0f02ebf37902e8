import { dirname } from "node:path";
import { expect, test } from "vitest";
import { submissionAdder } from "../support/add-submission.ts";
import { addEndpointOf, addFormOwner } from "../support/form-owner.ts";
import { collect, startProgram } from "../support/program.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { readSheet } from "../support/read-xlsx.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** Ada is the operator; Ben has two forms with submissions of every class, and Cleo one. */
async function world() {
  const server = await startServer();
  const ada = await visit(server);
  const ben = await addFormOwner(server, "ben@example.org");
  const shop = await addEndpointOf(server, ben, "Shop");
  const cleo = await addFormOwner(server, "cleo@example.org");
  const add = submissionAdder(server.owner);
  const now = server.clock.now();
  const hostile = ["=1+1", 'say "hi"', "two\nlines", "\u202Eevil\u0007", "<script>"];
  for (let index = 0; index < 600; index += 1) {
    const endpointId = [ben.endpoint.id, shop.id, cleo.endpoint.id][index % 3]!;
    const data = {
      message: `${hostile[index % 5]} ${index}`,
      extra: { toString: "x" },
      [`field ${index % 7}`]: index,
    };
    add({ endpointId, data, spamScore: index % 76, createdAt: now + index });
  }
  const command = async (...args: string[]): Promise<string> => {
    const words = ["submission", "export", "--db", server.databasePath, ...args];
    return (await collect(startProgram(dirname(server.databasePath), words))).stdout;
  };
  return { server, ada, ben, cleo, command };
}

test("an export is byte for byte what the command exports with the same filter, and CSV begins with a mark for spreadsheets", async () => {
  const { ada, ben, command } = await world();
  for (const [format, mark] of [
    ["csv", "\ufeff"],
    ["json", ""],
  ] as const) {
    const path = `/dashboard/export.${format}`;
    const expected = async (...args: string[]): Promise<string> =>
      mark + (await command("--format", format, ...args));
    expect((await ada.get(path)).text).toBe(await expected());
    expect((await ben.get(`${path}?endpoint=${ben.endpoint.id}&class=medium`)).text).toBe(
      await expected("--endpoint", ben.endpoint.id, "--class", "medium"),
    );
    expect((await ada.get(`${path}?q=SAY`)).text).toBe(await expected("--search", "say"));
  }
});

test("times of a filter mean the same on the page, in its export and in the command: days, times of a day, zones and durations", async () => {
  const { server, ada, ben, command } = await world();
  const now = server.clock.now();
  const add = submissionAdder(server.owner);
  for (const offset of [-3 * DAY_MS, -DAY_MS, -1, 0, DAY_MS, 2 * DAY_MS])
    add({ endpointId: ben.endpoint.id, data: { message: `at ${offset}` }, createdAt: now + offset });
  const iso = (ms: number): string => new Date(ms).toISOString();
  const [today, next] = [iso(now).slice(0, 10), iso(now + DAY_MS).slice(0, 10)];
  const zoned = `${iso(now + 7_200_000).slice(0, 19)}+02:00`;
  const filters: (readonly [since: string, until: string])[] = [
    [today, ""],
    ["", today],
    [today, today],
    [today, next],
    [iso(now), iso(now + 300)],
    [iso(now).slice(0, 16), ""],
    ["", zoned],
  ];
  for (const [since, until] of filters) {
    const query = new URLSearchParams({ since, until, endpoint: ben.endpoint.id }).toString();
    const exported = (await ada.get(`/dashboard/export.json?${query}`)).text;
    const options = [
      ...(since === "" ? [] : ["--since", since]),
      ...(until === "" ? [] : ["--until", until]),
    ];
    expect(exported, query).toBe(
      await command("--format", "json", "--endpoint", ben.endpoint.id, ...options),
    );
    const ids = (JSON.parse(exported) as { id: string }[]).map(({ id }) => id).toReversed();
    const { text } = await ada.get(`/dashboard?${query}`);
    const shown = [...text.matchAll(/name="id" value="(sub_\w+)"/g)].map(([, id]) => id);
    expect(shown, query).toEqual(ids.slice(0, 50));
  }
  const lately = (await ada.get("/dashboard/export.json?since=2d&until=12h")).text;
  expect((JSON.parse(lately) as { data: { message: string } }[]).map(({ data }) => data.message)).toEqual([
    `at ${-DAY_MS}`,
  ]);
  const again = (await ada.get(`/dashboard?since=${encodeURIComponent(iso(now))}`)).text;
  expect(again).toContain(`type="text" id="f-since" name="since" value="${iso(now)}"`);
});

test("an export holds exactly what its filter shows, on all pages together, and nothing of others", async () => {
  const { ben, cleo } = await world();
  const rows = async (visitor: typeof ben, query: string) =>
    JSON.parse((await visitor.get(`/dashboard/export.json?${query}`)).text) as {
      id: string;
      data: { message: string };
    }[];
  expect(await rows(ben, "")).toHaveLength(400);
  expect(await rows(cleo, "")).toHaveLength(200);
  const found = await rows(ben, "q=SAY");
  expect(found.length).toBe(80);
  expect(found.every(({ data }) => data.message.startsWith("say"))).toBe(true);
  expect(await rows(ben, "q=nowhere")).toEqual([]);
});

test("an export is a file with a name of its own", async () => {
  const { ben } = await world();
  const { headers } = await ben.get("/dashboard/export.csv");
  expect(headers["content-disposition"]).toMatch(/^attachment; filename="submissions-\d{4}-\d\d-\d\d\.csv"$/);
  expect(headers["content-type"]).toBe("text/csv; charset=utf-8");
  expect(headers["cache-control"]).toBe("no-store");
});

test("the page of choices leads to the same file as the command with these options, within the filter", async () => {
  const { server, ben, command } = await world();
  const { text, status } = await ben.get(`/dashboard/choose-export?endpoint=${ben.endpoint.id}&q=say`);
  expect(status).toBe(200);
  expect(text).toContain(`<input type="hidden" name="endpoint" value="${ben.endpoint.id}" />`);
  expect(text).toContain('<input type="hidden" name="q" value="say" />');
  for (const address of ["csv", "xlsx", "json"]) expect(text).toContain(`/dashboard/export.${address}"`);
  const chosen = `endpoint=${ben.endpoint.id}&q=say&columns=people&separator=%3B&time_zone=Europe%2FBerlin`;
  const csv = (await ben.get(`/dashboard/export.csv?${chosen}`)).text;
  const filter = ["--endpoint", ben.endpoint.id, "--search", "say"];
  const look = ["--columns", "people", "--separator", ";", "--time-zone", "Europe/Berlin"];
  expect(csv).toBe(`\ufeff${await command(...filter, ...look)}`);
  expect(csv).toContain("When (Europe/Berlin);Form;");
  const json = (await ben.get(`/dashboard/export.json?${chosen}`)).text;
  expect(json).toBe(await command("--format", "json", ...filter));
  const answer = await fetch(`${server.url}/dashboard/export.xlsx?${chosen}`, {
    headers: { cookie: ben.cookie },
  });
  expect(answer.headers.get("content-type")).toBe(
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  );
  const sheet = readSheet(Buffer.from(await answer.arrayBuffer()));
  const rows = parseCsv(csv.slice(1), ";");
  expect(sheet.map((row) => row[1])).toEqual(rows.map((row) => row[1]));
  const refused = await ben.get("/dashboard/export.csv?time_zone=Mars%2FBase");
  expect([refused.status, refused.text.includes("ot a time zone: &quot;Mars/Base&quot;")]).toEqual([
    400,
    true,
  ]);
  expect((await ben.get("/dashboard/choose-export?deleted=1")).status).toBe(400);
});
