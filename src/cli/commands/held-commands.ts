import { shorten } from "../../foundation/shorten.ts";
import type { Command } from "commander";
import type { z } from "zod";
import { plainText } from "../../foundation/plain-text.ts";
import type { HeldPostJson } from "../../submissions/held/held-json.ts";
import {
  dropAllHeld,
  dropHeld,
  listHeld,
  releaseHeld,
  showHeld,
} from "../../submissions/held/held-operations.ts";
import { importHeld } from "../../submissions/import/import-held.ts";
import { HELD_REASONS } from "../../submissions/held/held-post.ts";
import { parseTimeText } from "../flags/arguments.ts";
import { addNoun, command, type CommandContext } from "../command.ts";
import { importFile, intoOptions } from "../transfer/import-file.ts";
import { labelEndpoints } from "../flags/endpoint-label.ts";
import { linkParts } from "../output/link-parts.ts";
import { operate } from "../operate.ts";
import { operationCommand } from "../operation-command.ts";
import { noteNextPage, pageOf, pageOptions } from "../flags/page-options.ts";
import { printWhole } from "../output/submission-view.ts";

export function register(program: Command): void {
  addNoun(
    program,
    "held",
    "Posts that were refused as spam, over the limit or for their origin, and are held for some days",
    [list, show, release, drop, dropAll, bring],
  );
}

const MAX_SHOWN_DATA = 80;

const list = operationCommand({
  usage: "list",
  options: [
    { flags: "--endpoint <endpoint>", summary: "only posts to this endpoint" },
    { flags: "--why <why>", summary: "only posts held for this reason", choices: [...HELD_REASONS] },
    {
      flags: "--since <time>",
      summary: "only posts since this time: 2026-01-31, or 24h for the last 24 hours",
      parse: parseTimeText,
    },
    { flags: "--until <time>", summary: "only posts before this time", parse: parseTimeText },
    ...pageOptions,
  ],
  operation: listHeld,
  input: ({ endpoint, why, since, until, ...page }) => ({ endpoint, why, since, until, ...pageOf(page) }),
  async print({ output, perform }, page) {
    const label = await labelEndpoints(perform);
    const rows = page.data.map((post) => toRow(post, label(post.endpoint_id)));
    output.table(["CREATED", "ID", "ENDPOINT", "WHY", "SPAM", "DATA"], rows, "no held posts");
    noteNextPage(output, page);
  },
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
        // Each release is a transaction of its own, so those before a failure are printed too.
        if (released.length > 0) printReleased(context, released);
      }
    }),
});

const drop = operationCommand({
  usage: "drop <held...>",
  summary: "Drop held posts for good",
  operation: dropHeld,
  input: (_options, held) => ({ held: [...new Set(held)] }),
  async check({ held: ids }, { perform }) {
    for (const held of ids) await perform(showHeld, { held });
  },
  ask: ({ held }) => ({
    text: `Drop ${held.length === 1 ? held[0] : `${held.length} held posts`} for good?`,
  }),
  clearsLog: true,
  print: ({ output }, { dropped }) => output.note(`dropped: ${dropped.length}`),
});

const dropAll = operationCommand({
  usage: "drop-all",
  options: [{ flags: "--endpoint <endpoint>", summary: "drop only posts to this endpoint" }],
  examples: ["formsvc held drop-all --endpoint Contact"],
  operation: dropAllHeld,
  input: ({ endpoint }) => ({ endpoint }),
  check: ({ endpoint }, { perform }) => perform(listHeld, { endpoint, limit: 1 }),
  ask: ({ endpoint = null }) => ({
    text: `Drop all posts held${endpoint === null ? "" : ` for ${endpoint}`} for good?`,
  }),
  clearsLog: true,
  print: ({ output }, { dropped }) => output.note(`dropped: ${dropped}`),
});

const bring = command({
  usage: "import <file>",
  summary: "Hold the posts of a held.ndjson, from the archive of a workspace, again; known ones are skipped",
  notes: `They keep their ids, times, scores and reasons, and are held for as long as if they had come here. What an earlier import brought and was
released or dropped since does not come back. The names and sizes of their files come along, not the files.`,
  options: [...intoOptions, { flags: "--dry-run", summary: "say what would be held, and store nothing" }],
  examples: ["formsvc held import archive/held.ndjson --workspace 'Client sites'"],
  action: (context, { endpoint, workspace, dryRun }, [file]) =>
    operate(context, async (terminal) => {
      const input = { endpoint, workspace, dry_run: dryRun };
      const done = await terminal.bring(importHeld, input, importFile(file));
      if (context.output.isJson) return context.output.json(done);
      const { added, known, expired, new_ids: newIds = 0 } = done.imported;
      const did = dryRun ? "would be held" : "held";
      const withNewId = newIds > 0 ? ` (${newIds} with a new id, because another workspace has theirs)` : "";
      return context.output.note(
        `${did}: ${added}${withNewId}, known: ${known}, too old to be held: ${expired}`,
      );
    }),
});

type Released = z.output<typeof releaseHeld.output>;

function printReleased({ output }: CommandContext, released: readonly Released[]): void {
  if (output.isJson) return output.json({ released });
  for (const { submission } of released) output.line(submission);
  return undefined;
}

function toRow(held: HeldPostJson, endpoint: string): string[] {
  const shown = shorten(plainText(JSON.stringify(held.data)), MAX_SHOWN_DATA);
  return [held.created_at, held.id, endpoint, held.why, String(held.spam_score), shown];
}
