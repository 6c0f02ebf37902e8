import type { Command } from "commander";
import type { z } from "zod";
import { plainText } from "../foundation/plain-text.ts";
import type { HeldPostJson } from "../submissions/held/held-json.ts";
import {
  dropAllHeld,
  dropHeld,
  listHeld,
  releaseHeld,
  showHeld,
} from "../submissions/held/held-operations.ts";
import { HELD_REASONS } from "../submissions/held/held-post.ts";
import { confirm, parseTimeText } from "./arguments.ts";
import { clearLog } from "./clear-log.ts";
import { addNoun, command, type CommandContext } from "./command.ts";
import { labelEndpoints } from "./endpoint-label.ts";
import { linkParts } from "./link-parts.ts";
import { operate } from "./operate.ts";
import { noteNextPage, pageOf, pageOptions } from "./page-options.ts";
import { printWhole } from "./submission-view.ts";

export function register(program: Command): void {
  addNoun(
    program,
    "held",
    "Posts that were refused as spam, over the limit or for their origin, and are held for some days",
    [list, show, release, drop, dropAll],
  );
}

const MAX_SHOWN_DATA = 80;

const list = command({
  usage: "list",
  summary: "List held posts, newest first",
  options: [
    { flags: "--endpoint <endpoint>", summary: "only this endpoint's" },
    { flags: "--why <why>", summary: "only those held for this", choices: [...HELD_REASONS] },
    { flags: "--since <time>", summary: "from then on: 2026-01-31, or 24h ago", parse: parseTimeText },
    { flags: "--until <time>", summary: "before then", parse: parseTimeText },
    ...pageOptions,
  ],
  action: (context, options) =>
    operate(context, async ({ perform }) => {
      const { endpoint, why, since, until } = options;
      const page = await perform(listHeld, { endpoint, why, since, until, ...pageOf(options) });
      if (context.output.isJson) return context.output.json(page);
      const label = await labelEndpoints(perform);
      const rows = page.data.map((post) => toRow(post, label(post.endpoint_id)));
      context.output.table(["CREATED", "ID", "ENDPOINT", "WHY", "SPAM", "DATA"], rows, "no held posts");
      return noteNextPage(context.output, page);
    }),
});

const show = command({
  usage: "show <held>",
  summary: "Show a held post with its spam reasons",
  action: (context, _options, [id]) =>
    operate(context, async ({ perform }) => {
      const post = await perform(showHeld, { held: id });
      const { schema_version: _version, ...shown } = post;
      if (context.output.isJson) return context.output.json(shown);
      return printWhole(context.output, post, headingOf(post));
    }),
});

function headingOf({ why, origin }: HeldPostJson): string {
  if (why === "origin") return `HELD FOR ITS ORIGIN, ${plainText(origin ?? "")}`;
  return why === "spam" ? "HELD AS SPAM" : "HELD OVER THE LIMIT";
}

const release = command({
  usage: "release <held...>",
  summary: "Turn held posts into submissions: they are counted and sent to webhooks; spam teaches the filter",
  examples: ["formsvc held release held_01h455vb4pex5vsknk084sn02q"],
  action: (context, _options, ids) =>
    operate(context, async ({ perform }) => {
      const released: Released[] = [];
      try {
        for (const id of ids) {
          const done = await perform(releaseHeld, { held: id }, linkParts);
          context.output.note(`${id} is ${done.submission} now`);
          released.push(done);
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
    return operate(context, async ({ perform, here }) => {
      const done = await perform(dropHeld, { held: ids });
      clearLog(context, here);
      return context.output.isJson
        ? context.output.json(done)
        : context.output.note(`dropped: ${done.dropped.length}`);
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
    return operate(context, async ({ perform, here }) => {
      const { dropped } = await perform(dropAllHeld, { endpoint });
      clearLog(context, here);
      return context.output.isJson
        ? context.output.json({ dropped })
        : context.output.note(`dropped: ${dropped}`);
    });
  },
});

type Released = z.output<typeof releaseHeld.output>;

function printReleased({ output }: CommandContext, released: readonly Released[]): void {
  if (output.isJson) return output.json({ released });
  for (const { submission } of released) output.line(submission);
  return undefined;
}

function toRow(held: HeldPostJson, endpoint: string): string[] {
  const data = plainText(JSON.stringify(held.data));
  const shown = data.length > MAX_SHOWN_DATA ? `${data.slice(0, MAX_SHOWN_DATA)}…` : data;
  return [held.created_at, held.id, endpoint, held.why, String(held.spam_score), shown];
}
