import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../../test/support/example-schema.ts";
import { startSession } from "../../src/sessions/session.ts";
import { insertAccountRows, listAccounts } from "../../src/workspaces/workspace-store.ts";
import type { Workspace } from "../../src/workspaces/workspace.ts";
import { submissionAdder } from "../../test/support/add-submission.ts";
import { type Figure, renderFigures } from "./figures.ts";
import { postsFor, quantile } from "./posts.ts";
import { makeWorkplace, POST_BODY, type Workplace } from "./workplace.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/**
 * Measures how long the pages of the inbox take among many submissions, for an operator who sees all, an agency with 200 forms, and an
 * owner with a small workspace among large ones. It also measures what a search costs the posts at the same time.
 * Usage: taskset -c 1 node scripts/bench/inbox.ts [SUBMISSIONS] [VISITS]
 */
const COMMAND_WAIT_MS = 60_000;
const ROWS_AT_ONCE = 100_000;
const SPREAD_DAYS = 90;
const AGENCY_FORMS = 200;
const POSTS_SECONDS = 10;
const UNLIMITED = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };

interface Reader {
  readonly name: string;
  readonly cookie: string;
  /** The forms that get this share of the submissions, from 0 to 1. The operator reads those of another account. */
  readonly endpointIds: readonly string[];
  readonly share: number;
}

if (import.meta.main) {
  const [submissions = 2_000_000, visits = 100] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(await measureInbox(submissions, visits)));
}

export async function measureInbox(submissions: number, visits: number): Promise<Figure[]> {
  const place = makeWorkplace();
  try {
    const db = openDatabase(place.db, { busyTimeoutMs: COMMAND_WAIT_MS });
    const readers = addReaders(db);
    const middle = fill(db, readers, submissions);
    db.close();
    const server = await place.serve();
    const base = `http://127.0.0.1:${server.port}`;
    try {
      const figures: Figure[] = [];
      for (const reader of readers)
        for (const [name, query] of pagesOf(reader, middle))
          figures.push(...(await measurePage(base, reader, { name, query, visits })));
      figures.push(...(await measurePostsBesideSearch(base, place, readers[0], middle)));
      return figures;
    } finally {
      await server.stop();
    }
  } finally {
    place.remove();
  }
}

function addReaders(db: SqliteDatabase): Reader[] {
  const now = Date.now();
  const browser = { userAgent: "Bench", ipAddress: null };
  const cookieOf = (accountId: string): string =>
    `formsvc-session=${db.now(() => startSession(accountId, browser, now)).cookie}`;
  const [operator] = db.now(() => listAccounts());
  const own = (email: string, forms: number): Pick<Reader, "cookie" | "endpointIds"> => {
    const { account, workspace } = db.now(() => insertAccountRows(email, now));
    return { cookie: cookieOf(account.id), endpointIds: addForms(db, workspace, forms, now) };
  };
  return [
    {
      name: "an operator",
      cookie: cookieOf(operator?.id ?? ""),
      endpointIds: own("large@example.org", 3).endpointIds,
      share: 0.945,
    },
    { name: `an agency with ${AGENCY_FORMS} forms`, ...own("agency@example.org", AGENCY_FORMS), share: 0.05 },
    { name: "a small owner", ...own("small@example.org", 2), share: 0.005 },
  ];
}

function addForms(db: SqliteDatabase, workspace: Workspace, count: number, now: number): string[] {
  const made = { definition: exampleSchema, settings: defaultEndpointSettings };
  return db.transactionNow(() =>
    Array.from(
      { length: count },
      (_, index) =>
        db.now(() => insertEndpointRow(workspace, { ...made, name: `Form ${index}` }, UNLIMITED, now)).id,
    ),
  );
}

/** Fills the file, the oldest submission first, and returns the id in the middle. */
function fill(db: SqliteDatabase, readers: readonly Reader[], count: number): string {
  const add = submissionAdder(db);
  const data = JSON.parse(POST_BODY) as Record<string, unknown>;
  const start = Date.now() - SPREAD_DAYS * DAY_MS;
  const step = (SPREAD_DAYS * DAY_MS) / count;
  let middle = "";
  for (let from = 0; from < count; from += ROWS_AT_ONCE) {
    db.transactionNow(() => {
      for (let index = from; index < Math.min(count, from + ROWS_AT_ONCE); index += 1) {
        // In each thousand submissions, every reader gets their share.
        const { endpointIds } = ownerOf(readers, (index % 1000) / 1000);
        const createdAt = Math.floor(start + index * step);
        const id = newId("sub", createdAt);
        const endpointId = endpointIds[Math.floor(index / 7) % endpointIds.length] ?? "";
        add({
          id,
          endpointId,
          data: { ...data, order: index },
          spamScore: index % 97 === 0 ? 60 : 0,
          createdAt,
          ipAddress: "203.0.113.17",
        });
        if (index === count >> 1) middle = id;
      }
    });
  }
  return middle;
}

function ownerOf(readers: readonly Reader[], part: number): Reader {
  let until = 0;
  const found = readers.find(({ share }) => (until += share) > part);
  return found ?? (readers[0] as Reader);
}

function pagesOf({ endpointIds }: Reader, middle: string): [string, string][] {
  return [
    ["first page", ""],
    ["page in the middle", `before=${middle}`],
    ["one form", `endpoint=${endpointIds[0] ?? ""}`],
    ["suspicious", "class=high"],
    ["unread", "unread=1"],
    ["search that finds on each", "q=scarf"],
    ["search that finds nothing", "q=nowhere"],
    ["search in another alphabet", "q=%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82"],
  ];
}

async function measurePage(
  base: string,
  { name: who, cookie }: Reader,
  { name, query, visits }: { readonly name: string; readonly query: string; readonly visits: number },
): Promise<Figure[]> {
  const taken: number[] = [];
  for (let visit = 0; visit < visits; visit += 1) taken.push(await visitOnce(base, cookie, query));
  const what = `${name}, ${who}`;
  return [
    { figure: `${what}: median`, value: quantile(taken, 0.5), unit: "ms", bound: { atMost: 20 } },
    { figure: `${what}: p99`, value: quantile(taken, 0.99), unit: "ms", bound: { atMost: 100 } },
  ];
}

async function visitOnce(base: string, cookie: string, query: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(`${base}/dashboard?${query}`, { headers: { cookie }, redirect: "manual" });
  await answer.text();
  if (answer.status !== 200) throw new Error(`${query}: ${answer.status}`);
  return performance.now() - begun;
}

async function measurePostsBesideSearch(
  base: string,
  place: Workplace,
  reader: Reader | undefined,
  middle: string,
): Promise<Figure[]> {
  const key = /Bearer (\S+)/.exec(place.request)?.[1] ?? "";
  const alone = await postsFor(base, key, POSTS_SECONDS);
  const posting = { isOver: false };
  const searching = searchUntil(posting, base, reader?.cookie ?? "", middle);
  const beside = await postsFor(base, key, POSTS_SECONDS);
  posting.isOver = true;
  const searches = await searching;
  const [one, other] = [quantile(alone, 0.99), quantile(beside, 0.99)];
  return [
    { figure: "p99 of a post", value: one, unit: "ms", bound: null },
    {
      figure: `p99 of a post beside searches (${searches})`,
      value: other,
      unit: "ms",
      bound: { atMost: one + 5 },
    },
  ];
}

/** Searches until the posts have ended, and returns the number of searches. */
async function searchUntil(
  posting: { readonly isOver: boolean },
  base: string,
  cookie: string,
  middle: string,
): Promise<number> {
  let searches = 0;
  for (; !posting.isOver; searches += 1) await visitOnce(base, cookie, `q=nowhere&before=${middle}`);
  return searches;
}
