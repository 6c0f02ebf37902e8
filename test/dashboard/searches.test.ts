import { request as open } from "node:http";
import { expect, test } from "vitest";
import { submissionAdder } from "../support/add-submission.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { addFormOwner } from "../support/form-owner.ts";
import { formOf } from "../support/page.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

/** What takes longest to search: nothing in it ends the comparison early. */
const TEXT = "a".repeat(60_000);
const SOUGHT = `${"a".repeat(199)}b`;
const SUBMISSIONS = 210;
/** It finds something at once. */
const NEXT = "/dashboard?q=aaa";

/** Ben's form is full of texts that take long to search; Cleo has a form of her own. */
async function world() {
  const server = await startServer({ plans: { hobby: { customSpam: true } } });
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  const add = submissionAdder(server.owner);
  const now = server.clock.now();
  for (let index = 0; index < SUBMISSIONS; index += 1)
    add({ endpointId: ben.endpoint.id, data: { message: TEXT }, createdAt: now + index });
  return { server, ben, cleo };
}

/** Counts the reads of the server, each of which is a slice of a walk, and notes the processor time of each in milliseconds. */
function watchReads({ serverDatabase }: TestServer) {
  const read = serverDatabase.read.bind(serverDatabase);
  const seen = { count: 0, slicesMs: [] as number[] };
  serverDatabase.read = (work) => {
    seen.count += 1;
    const begun = process.cpuUsage();
    const answer = read(work);
    const { user, system } = process.cpuUsage(begun);
    seen.slicesMs.push((user + system) / 1000);
    return answer;
  };
  return seen;
}

test.each(["/dashboard", "/dashboard/export.json", "/dashboard/export.csv"])(
  "a search ends when its client hangs up: %s",
  async (path) => {
    const { server, ben } = await world();
    const seen = watchReads(server);
    await ben.get(`${path}?q=${SOUGHT}`);
    const whole = seen.count;
    await ben.get(NEXT);
    const next = seen.count - whole;
    expect(whole).toBeGreaterThan(100);
    seen.count = 0;
    const asked = open(`${server.url}${path}?q=${SOUGHT}`, { headers: { cookie: ben.cookie } });
    asked.on("error", () => undefined).end();
    await until(() => seen.count > 10);
    asked.destroy();
    await new Promise((resolve) => asked.once("close", resolve));
    // An account has one search at a time, so this one waits until the other has ended.
    await ben.get(NEXT);
    expect(seen.count).toBeLessThan(next + whole / 2);
    const atEnd = seen.count;
    await new Promise((resolve) => setTimeout(resolve, 100));
    // The server reads a row now and then by itself; a search would have read on.
    expect(seen.count - atEnd).toBeLessThan(3);
  },
);

test("of many searches of one account four are answered and the others told, in slices of some milliseconds; another account's is answered", async () => {
  const { server, ben, cleo } = await world();
  const seen = watchReads(server);
  const own = Promise.all(Array.from({ length: 32 }, () => ben.get(`/dashboard?q=${SOUGHT}`)));
  const other = await cleo.get("/dashboard?q=anything");
  expect(other.status).toBe(200);
  const answers = await own;
  const told = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 200).length).toBe(4);
  expect(told.length).toBe(28);
  for (const { text } of told) expect(text).toContain("Another search of yours goes on");
  // 5 ms are promised. The processor time is the whole process's, so a slice or two have a collection of garbage in them.
  const longest = seen.slicesMs.toSorted((one, other) => other - one);
  expect(longest[2]).toBeLessThan(25);
});

test.each(["/spam/preview", "/submissions/find"])(
  "what reads many submissions by a token ends when its client hangs up, and one goes on at a time: %s",
  async (path) => {
    const { server, ben } = await world();
    const seen = watchReads(server);
    const token = await makeToken(server, ["endpoints:read", "submissions:read"], { account: ben.accountId });
    const body = JSON.stringify({
      endpoint: ben.endpoint.id,
      ...(path === "/spam/preview" ? { choices: { maxLinks: 1 } } : { field: "message", value: "b" }),
    });
    const ask = askWith(server, token);
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask("POST", path, { body })));
    expect(statusesOf(answers)).toEqual([200, 200, 200, 200, 429, 429]);
    const whole = seen.count / 4;
    seen.count = 0;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const asked = open(`${server.url}/api/v1${path}`, { method: "POST", headers });
    asked.on("error", () => undefined).end(body);
    await until(() => seen.count > 10);
    asked.destroy();
    await new Promise((resolve) => asked.once("close", resolve));
    // It waits until the other has ended.
    await ben.get(NEXT);
    expect(seen.count).toBeLessThan(whole / 2);
  },
);

test("of many previews of spam settings on the page four are answered and the others told", async () => {
  const { ben } = await world();
  const path = `/dashboard/spam/endpoints/${ben.endpoint.id}`;
  const asked = Array.from({ length: 6 }, () => ben.post(path, { action: "preview", max_links: "1" }));
  const answers = await Promise.all(asked);
  expect(statusesOf(answers)).toEqual([200, 200, 200, 200, 429, 429]);
});

function statusesOf(answers: readonly { readonly status: number }[]): readonly number[] {
  return answers.map(({ status }) => status).toSorted((one, other) => one - other);
}

test("a search for more than ten words, or 200 characters, is refused with a sentence, and stays to be changed", async () => {
  const { ben } = await world();
  const words = Array.from({ length: 11 }, (_, index) => `w${index}`);
  const many = await ben.get(`/dashboard?unread=1&q=${words.join("+")}`);
  expect([many.status, many.text]).toEqual([400, expect.stringContaining("at most 10 words") as string]);
  const search = formOf(many.text, "/dashboard").values;
  expect([search.get("q"), search.get("unread")]).toEqual([words.join(" "), "1"]);
  const long = await ben.get(`/dashboard?q=${"x".repeat(201)}`);
  expect([long.status, long.text]).toEqual([
    400,
    expect.stringContaining("at most 200 characters") as string,
  ]);
});
