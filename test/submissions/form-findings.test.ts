import { describe, expect, test } from "vitest";
import { createLog } from "../../src/foundation/log.ts";
import { checkIgnoredRedirects, createPageWatch } from "../../src/submissions/receive/page-faults.ts";
import { checkOftenSent, listOftenSent } from "../../src/submissions/receive/often-sent.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { startServer } from "../support/test-server.ts";
import { applicationSchema } from "../support/uploads.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

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
    const watch = createPageWatch(db, clock, createLog("error", { write: () => true }));
    const seen = () => rowsOf<{ what: string; seen_at: number }>(db, "SELECT what, seen_at FROM page_fault");
    const first = clock.now();
    watch(ana.endpointId, "redirect", "https://other.example");
    await until(async () => (await seen()).length === 1);
    watch(ana.endpointId, "redirect", "https://third.example");
    watch("ep_gone", "redirect", "https://third.example");
    clock.advance(3_600_000);
    watch(ana.endpointId, "redirect", "");
    await until(async () => (await seen())[0]?.what === "");
    expect(await seen()).toEqual([{ what: "", seen_at: first + 3_600_000 }]);
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

test("a page that sends the name in place of a file is named to its owner and by doctor, and its visitor gets a form that works", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { publishable } = await server.addEndpoint({ schema: applicationSchema });
  const send = (fields: Record<string, string>) =>
    fetch(`${server.url}/f/${publishable}`, {
      method: "POST",
      headers: { origin: "https://site.example", accept: "text/html" },
      body: new URLSearchParams(fields),
    });
  await send({ name: "cv.pdf", cv: "" });
  expect((await ada.get("/dashboard")).text).not.toContain("only the name of a file");
  const answer = await send({ name: "Ana", cv: "cv.pdf" });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('enctype="multipart/form-data"');
  const text = await until(async () => {
    const page = await ada.get("/dashboard");
    return page.text.includes("only the name of a file") ? page.text : null;
  });
  expect(text).toMatch(/only the name of a file, in <bdi>cv<\/bdi>/);
  const { ok, message } = await server.owner.read(() => checkOftenSent(server.clock.now()));
  expect([ok, message]).toEqual([true, expect.stringMatching(/in cv$/)]);
});
