import type { Command } from "commander";
import { heldJson } from "../submissions/held-json.ts";
import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { Steps } from "../database/steps.ts";
import { getEndpoint } from "../endpoints/endpoint-store.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { HeldPost } from "../submissions/held-post.ts";
import { type HeldPosts, openHeldPosts } from "../submissions/open-held-posts.ts";
import { MAX_PAGE_SIZE } from "../submissions/submission-store.ts";
import { createOutbox } from "../outbox/outbox.ts";
import { confirm, parseCount, parseTime } from "./arguments.ts";
import { clearLog } from "./clear-log.ts";
import { addNoun, type CommandContext, type CommandSpec, type Options, text } from "./command.ts";
import { withDatabase } from "./open.ts";
import { plainText } from "./output.ts";
import { printWhole } from "./submission-view.ts";

export function register(program: Command): void {
  addNoun(program, "held", "Posts that were refused as spam or over the limit, and are held for some days", [
    list,
    show,
    release,
    drop,
  ]);
}

const DEFAULT_PAGE_SIZE = 25;
const MAX_SHOWN_DATA = 80;

const list: CommandSpec = {
  usage: "list",
  summary: "List held posts, newest first",
  options: [
    { flags: "--endpoint <endpoint>", summary: "only this endpoint's" },
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
        endpointId: await db.read(() => endpointId(options)),
        since: typeof options["since"] === "number" ? options["since"] : null,
        until: typeof options["until"] === "number" ? options["until"] : null,
      };
      const limit = typeof options["limit"] === "number" ? options["limit"] : DEFAULT_PAGE_SIZE;
      const page = await held.list(filter, limit, text(options, "cursor"));
      if (context.output.isJson) {
        return context.output.json({ data: page.data.map(heldJson), next_cursor: page.nextCursor });
      }
      context.output.table(["CREATED", "ID", "WHY", "SPAM", "DATA"], page.data.map(toRow), "no held posts");
      if (page.nextCursor !== null) context.output.note(`more with: --cursor ${page.nextCursor}`);
      return undefined;
    }),
};

const show: CommandSpec = {
  usage: "show <held>",
  summary: "Show a held post with its spam reasons",
  action: (context, _options, [id = ""]) =>
    withHeld(context, async (held) => {
      const post = await held.get(id);
      if (context.output.isJson) return context.output.json(heldJson(post));
      return printWhole(context.output, post, post.why === "spam" ? "HELD AS SPAM" : "HELD OVER THE LIMIT");
    }),
};

const release: CommandSpec = {
  usage: "release <held...>",
  summary: "Turn held posts into submissions: they are counted and sent to webhooks; spam teaches the filter",
  examples: ["formsvc held release held_01h455vb4pex5vsknk084sn02q"],
  action: (context, _options, ids) =>
    withHeld(context, async (held) => {
      const released: { readonly held: string; readonly submission: string }[] = [];
      try {
        for (const id of ids.filter((name) => name !== undefined)) {
          const submission = await held.release(id);
          context.output.note(`${id} is ${submission.id} now`);
          released.push({ held: id, submission: submission.id });
        }
      } finally {
        // Each is a transaction of its own: those that succeeded before a failure are printed too.
        if (released.length > 0) printReleased(context, released);
      }
    }),
};

const drop: CommandSpec = {
  usage: "drop <held...>",
  summary: "Drop held posts for good",
  options: [{ flags: "--yes", summary: "do it without being asked" }],
  action: async (context, options, ids) => {
    const named = ids.filter((id) => id !== undefined);
    if (named.length === 0) throw new FormsvcError("usage", "name the held posts to drop");
    await confirm(
      `Drop ${named.length === 1 ? named[0] : `${named.length} held posts`} for good?`,
      options["yes"] === true,
    );
    return withHeld(context, async (held, db) => {
      await held.drop(named);
      clearLog(context, db);
      return context.output.isJson
        ? context.output.json({ dropped: named })
        : context.output.note(`dropped: ${named.length}`);
    });
  },
};

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
  work: (held: HeldPosts, db: SqliteDatabase) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, (db, { plans, held: { days } }) =>
    work(openHeldPosts({ db, plans, days, clock: context.clock, outbox: createOutbox(db) }), db),
  );
}

function* endpointId(options: Options): Steps<string | null> {
  const reference = text(options, "endpoint");
  return reference === null ? null : (yield* getEndpoint(reference)).id;
}

function toRow(held: HeldPost): string[] {
  const data = plainText(JSON.stringify(held.data));
  const shown = data.length > MAX_SHOWN_DATA ? `${data.slice(0, MAX_SHOWN_DATA)}…` : data;
  return [toIsoTime(held.createdAt), held.id, held.why, String(held.spamScore), shown];
}
