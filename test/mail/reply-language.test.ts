import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { readReplyLanguage } from "../../src/mail/auto-reply/auto-reply-store.ts";
import { createMayReply } from "../../src/mail/auto-reply/may-reply.ts";
import { deleteSubmissionRows } from "../../src/submissions/stored/submission-store.ts";
import { visitorLanguage } from "../../src/submissions/receive/visitor-language.ts";
import { setAutoReply } from "../support/auto-replies.ts";
import { addPlace, batchServer, outcomesOf, type Place } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";

const LIMITS = { perWorkspacePerHour: 100, perHour: null };

/** An endpoint whose automatic reply is on, and what stores posts to it. */
async function begin(db: Database) {
  const place = await addPlace(db);
  const endpoint = await db.read(() => getEndpoint(place.endpointId));
  await setAutoReply(db, { endpoint, change: {} }, NOON);
  return { place, server: batchServer(db, { mayReply: createMayReply([], LIMITS) }) };
}

/** Of a visitor whom nobody else is. */
function postIn(place: Place, number: number, language: () => string | null) {
  const data = { email: `eve${number}@example.net`, name: "Eve", message: "Open on Sunday?" };
  const fields = { email: {}, name: {}, message: {} };
  return place.pending({ of: { data }, fields, address: `10.0.${number}.1`, language });
}

describe.each(ENGINES)("the language of an automatic reply on $name", ({ temporary }) => {
  test("is stored with the post that names it, and goes with it", async () => {
    const db = await temporary();
    const { place, server } = await begin(db);
    const posts = ["de", "fr", null].map((named, index) => postIn(place, index, () => named));
    expect(await outcomesOf(server, posts)).toEqual(["stored", "stored", "stored"]);
    const ids = posts.map(({ submission }) => submission.id);
    const languages = await Promise.all(ids.map((id) => db.read(() => readReplyLanguage(id))));
    expect(languages).toEqual(["de", "fr", null]);
    await db.transaction(() => deleteSubmissionRows([ids[0] ?? ""]));
    expect(await rowsOf(db, "SELECT language FROM reply_language")).toEqual([{ language: "fr" }]);
  });

  test("is not stored for a post that gets no reply", async () => {
    const db = await temporary();
    const { place, server } = await begin(db);
    const post = postIn(place, 1, () => "de");
    await outcomesOf(server, [{ ...post, trapped: true }]);
    expect(await rowsOf(db, "SELECT * FROM submission")).toHaveLength(1);
    expect(await rowsOf(db, "SELECT * FROM reply_language")).toEqual([]);
  });
});

describe("the language that a post speaks", () => {
  const of = (body: Record<string, unknown>, ofEndpoint: "it" | null, acceptLanguage?: string) =>
    visitorLanguage({ body, ofEndpoint, acceptLanguage })();

  test("is the one that it names, else the endpoint's, which needs no row, else the browser's first", () => {
    expect(of({ _language: "de-AT" }, "it", "fr")).toBe("de");
    expect(of({ _language: "tlh" }, "it", "fr")).toBeNull();
    expect(of({}, "it", "fr")).toBeNull();
    expect(of({}, null, "fr-CH,de;q=0.5")).toBe("fr");
    expect(of({}, null)).toBeNull();
  });

  test("is none of those that do not exist, are too long or are no text", () => {
    const wrong = ["tlh", "", "x".repeat(10_000), `de${"-abcdefgh".repeat(4)}`, 7, null, ["de"], { a: "de" }];
    for (const tag of wrong) expect(of({ _language: tag }, null), JSON.stringify(tag)).toBeNull();
    expect(of({}, null, "x".repeat(10_000))).toBeNull();
    expect(of(JSON.parse('{"__proto__":{"_language":"de"}}') as Record<string, unknown>, null)).toBeNull();
  });
});
