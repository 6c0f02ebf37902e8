import type { AnyDatabase } from "../database/any-database.ts";
import type { Command } from "commander";
import { heldPostJson } from "../submissions/held-json.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { HELD_REASONS, type HeldPost } from "../submissions/held-post.ts";
import { type HeldPosts, openHeldPosts } from "../submissions/open-held-posts.ts";
import { MAX_PAGE_SIZE } from "../submissions/submission-store.ts";
import { confirm, parseCount, parseTime } from "./arguments.ts";
import { clearLog } from "./clear-log.ts";
import { addNoun, command, type CommandContext } from "./command.ts";
import { labelEndpoints } from "./endpoint-label.ts";
import { withDatabase } from "./open.ts";
import { plainText } from "../foundation/plain-text.ts";
import { endpointIdOf, endpointIdsOf } from "./submission-filter.ts";
import { printWhole } from "./submission-view.ts";

export function register(program: Command): void {
  addNoun(
    program,
    "held",
    "Posts that were refused as spam, over the limit or for their origin, and are held for some days",
    [list, show, release, drop, dropAll],
  );
}

const DEFAULT_PAGE_SIZE = 25;
const MAX_SHOWN_DATA = 80;

const list = command({
  usage: "list",
  summary: "List held posts, newest first",
  options: [
    { flags: "--endpoint <endpoint>", summary: "only this endpoint's" },
    { flags: "--why <why>", summary: "only those held for this", choices: [...HELD_REASONS] },
    { flags: "--since <time>", summary: "from then on: 2026-01-31, or 24h ago", parse: parseTime },
    { flags: "--until <time>", summary: "before then", parse: parseTime },
    {
      flags: "--limit <count>",
      summary: `how many (default: ${DEFAULT_PAGE_SIZE})`,
      parse: parseCount(MAX_PAGE_SIZE),
    },
    { flags: "--cursor <cursor>", summary: "the next_cursor of the page before" },
  ],
  action: (context, options) =>
    withHeld(context, async (held, db) => {
      const filter = {
        endpointIds: await db.read(() => endpointIdsOf(options.endpoint)),
        why: options.why,
        since: options.since,
        until: options.until,
      };
      const limit = options.limit ?? DEFAULT_PAGE_SIZE;
      const page = await held.list(filter, limit, options.cursor);
      if (context.output.isJson) {
        return context.output.json({ data: page.data.map(heldPostJson), next_cursor: page.nextCursor });
      }
      const label = await labelEndpoints(
        db,
        page.data.map(({ endpointId }) => endpointId),
      );
      const rows = page.data.map((post) => toRow(post, label(post.endpointId)));
      context.output.table(["CREATED", "ID", "ENDPOINT", "WHY", "SPAM", "DATA"], rows, "no held posts");
      if (page.nextCursor !== null) context.output.note(`more with: --cursor ${page.nextCursor}`);
      return undefined;
    }),
});

const show = command({
  usage: "show <held>",
  summary: "Show a held post with its spam reasons",
  action: (context, _options, [id]) =>
    withHeld(context, async (held) => {
      const post = await held.get(id);
      if (context.output.isJson) return context.output.json(heldPostJson(post));
      return printWhole(context.output, post, headingOf(post));
    }),
});

function headingOf({ why, origin }: HeldPost): string {
  if (why === "origin") return `HELD FOR ITS ORIGIN, ${plainText(origin ?? "")}`;
  return why === "spam" ? "HELD AS SPAM" : "HELD OVER THE LIMIT";
}

const release = command({
  usage: "release <held...>",
  summary: "Turn held posts into submissions: they are counted and sent to webhooks; spam teaches the filter",
  examples: ["formsvc held release held_01h455vb4pex5vsknk084sn02q"],
  action: (context, _options, ids) =>
    withHeld(context, async (held) => {
      const released: { readonly held: string; readonly submission: string }[] = [];
      try {
        for (const id of ids) {
          const submission = await held.release(id);
          context.output.note(`${id} is ${submission.id} now`);
          released.push({ held: id, submission: submission.id });
        }
      } finally {
        // Each is a transaction of its own: those that succeeded before a failure are printed too.
        if (released.length > 0) printReleased(context, released);
      }
    }),
});

const drop = command({
  usage: "drop <held...>",
  summary: "Drop held posts for good",
  options: [{ flags: "--yes", summary: "do it without being asked" }],
  action: async (context, options, ids) => {
    await confirm(`Drop ${ids.length === 1 ? ids[0] : `${ids.length} held posts`} for good?`, options.yes);
    return withHeld(context, async (held, db) => {
      await held.drop(ids);
      clearLog(context, db);
      return context.output.isJson
        ? context.output.json({ dropped: ids })
        : context.output.note(`dropped: ${ids.length}`);
    });
  },
});

const dropAll = command({
  usage: "drop-all",
  summary: "Drop all posts that are held now for good",
  options: [
    { flags: "--endpoint <endpoint>", summary: "only this endpoint's" },
    { flags: "--yes", summary: "do it without being asked" },
  ],
  examples: ["formsvc held drop-all --endpoint Contact"],
  action: async (context, { endpoint, yes }) => {
    await confirm(`Drop all posts held${endpoint === null ? "" : ` for ${endpoint}`} for good?`, yes);
    return withHeld(context, async (held, db) => {
      const dropped = await held.dropAll(await db.read(() => endpointIdOf(endpoint)));
      clearLog(context, db);
      return context.output.isJson
        ? context.output.json({ dropped })
        : context.output.note(`dropped: ${dropped}`);
    });
  },
});

function printReleased(
  { output }: CommandContext,
  released: readonly { readonly held: string; readonly submission: string }[],
): void {
  if (output.isJson) return output.json({ released });
  for (const { submission } of released) output.line(submission);
  return undefined;
}

function withHeld<Result>(
  context: CommandContext,
  work: (held: HeldPosts, db: AnyDatabase) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, (db, { plans, held: { days } }) =>
    work(openHeldPosts({ db, plans, days, clock: context.clock, actor: null }), db),
  );
}

function toRow(held: HeldPost, endpoint: string): string[] {
  const data = plainText(JSON.stringify(held.data));
  const shown = data.length > MAX_SHOWN_DATA ? `${data.slice(0, MAX_SHOWN_DATA)}…` : data;
  return [toIsoTime(held.createdAt), held.id, endpoint, held.why, String(held.spamScore), shown];
}
