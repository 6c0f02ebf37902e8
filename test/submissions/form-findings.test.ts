import { describe, expect, test } from "vitest";
import { createLog } from "../../src/foundation/log.ts";
import { checkIgnoredRedirects, createRedirectWatch } from "../../src/submissions/ignored-redirect.ts";
import { checkOftenSent, listOftenSent } from "../../src/submissions/often-sent.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

const DAY_MS = 86_400_000;

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("inputs that came often are named by form until they are declared or a month is over, and nobody else's", async () => {
    const db = await temporary();
    const [ana, ben] = [await addPlace(db, "ana"), await addPlace(db, "ben")];
    const now = createFakeClock().now();
    const aside = (endpointId: string, fields: Record<string, unknown>) => ({
      endpointId,
      createdAt: now,
      setAside: { fields, dropped: 0 },
    });
    const often = { allergies: "nuts", "toppings.0": "ham", "toppings.1": "egg", email: "x" };
    await storeSubmissions(db, [
      ...Array.from({ length: 3 }, () => aside(ana.endpointId, often)),
      aside(ana.endpointId, { rare: 1, photo: "IMG_0042.JPG" }),
      { endpointId: ben.endpointId, createdAt: now },
    ]);
    const found = { endpointId: ana.endpointId, endpointName: "Contact" };
    const expected = [{ ...found, names: ["allergies", "toppings"], files: ["photo"] }];
    expect(await db.read(() => listOftenSent(null, now))).toEqual(expected);
    expect(await db.read(() => listOftenSent([ana.workspaceId], now))).toEqual(expected);
    expect(await db.read(() => listOftenSent([ben.workspaceId], now))).toEqual([]);
    expect(await db.read(() => listOftenSent(null, now + 31 * DAY_MS))).toEqual([]);
    const { ok, message } = await db.read(() => checkOftenSent(now));
    expect([ok, message]).toEqual([
      true,
      expect.stringContaining("allergies, toppings; only the names of files in photo"),
    ]);
  });

  test("of a thousand posts with hostile names a few are looked at, and what is told stays short", async () => {
    const db = await temporary();
    const ana = await addPlace(db, "ana");
    const now = createFakeClock().now();
    const fields = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`\u001b[31m${index}${"n".repeat(60)}`, 1]),
    );
    const post = { endpointId: ana.endpointId, createdAt: now, setAside: { fields, dropped: 0 } };
    await storeSubmissions(
      db,
      Array.from({ length: 1000 }, () => post),
    );
    const { message } = await db.read(() => checkOftenSent(now));
    expect(message.length).toBeLessThan(600);
    expect(message).not.toContain("\u001b");
  });

  test("an ignored _redirect is noted once an hour for each form, and told of for a week", async () => {
    const db = await temporary();
    const ana = await addPlace(db, "ana");
    const clock = createFakeClock();
    const watch = createRedirectWatch(
      db,
      clock,
      createLog("error", "json", () => ({ write: () => true })),
    );
    const seen = () =>
      rowsOf<{ origin: string; seen_at: number }>(db, "SELECT origin, seen_at FROM ignored_redirect");
    const first = clock.now();
    watch(ana.endpointId, "https://other.example");
    await until(async () => (await seen()).length === 1);
    watch(ana.endpointId, "https://third.example");
    watch("ep_gone", "https://third.example");
    clock.advance(3_600_000);
    watch(ana.endpointId, "");
    await until(async () => (await seen())[0]?.origin === "");
    expect(await seen()).toEqual([{ origin: "", seen_at: first + 3_600_000 }]);
    const { ok, message } = await db.read(() => checkIgnoredRedirects(clock.now()));
    expect([ok, message]).toEqual([
      true,
      expect.stringContaining(`Contact (${ana.endpointId}) to what is no address`),
    ]);
    clock.advance(8 * DAY_MS);
    expect((await db.read(() => checkIgnoredRedirects(clock.now()))).message).not.toContain("Contact");
  });
});

test("the dashboard names what forms are often sent, only names of files, and an ignored _redirect", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { publishable, id } = await server.addEndpoint({ schema: { name: { type: "string" } } });
  expect((await ada.get("/dashboard")).text).not.toContain("no field for");
  const send = (more: Record<string, string>) =>
    fetch(`${server.url}/f/${publishable}`, {
      method: "POST",
      headers: { origin: "https://site.example", accept: "application/json" },
      body: new URLSearchParams({ name: "Ana", ...more }),
    });
  for (let count = 0; count < 3; count += 1) expect((await send({ allergies: "nuts" })).status).toBe(200);
  await send({ photo: "IMG_0042.JPG", _redirect: "https://other.example/thanks" });
  const text = await until(async () => {
    const page = await ada.get("/dashboard");
    return page.text.includes("other.example") ? page.text : null;
  });
  expect(text).toMatch(/is often sent what it has no field for: <bdi>allergies<\/bdi>/);
  expect(text).toMatch(/only the names of files, in <bdi>photo<\/bdi>/);
  expect(text).toContain("<bdi>https://other.example</bdi>");
  const tried = `/dashboard/endpoints/${id}/try`;
  expect((await ada.get(tried)).text).toContain("No file can be tried here");
  const outcome = await ada.post(tried, { "p.name": "holiday.jpeg" });
  expect(outcome.text).toMatch(/“<bdi>name<\/bdi>” has the name of a file/);
  expect((await ada.post(tried, { "p.name": "Ana" })).text).not.toContain("has the name of a file");
});
