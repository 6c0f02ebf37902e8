import type { Command } from "commander";
import { spamDefaults } from "../../app/features.ts";
import type { z } from "zod";
import { defaultConfig } from "../../config/config.ts";
import { DEFAULT_HONEYPOTS } from "../../endpoints/endpoint.ts";
import { setSpam, showSpam } from "../../endpoints/spam-operations.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { isId } from "../../foundation/id.ts";
import { FILTER_VERSION, scoreSpam } from "../../spam/score-spam.ts";
import { parseKeyword, type SpamKeyword } from "../../spam/keyword.ts";
import { noHistory } from "../../spam/spam-history.ts";
import { readBody } from "../../spam/spam-post.ts";
import {
  parseSpamChoices,
  replaceChoices,
  type SpamChoices,
  type SpamSettings,
} from "../../spam/spam-settings.ts";
import type { SpamReason } from "../../spam/spam-verdict.ts";
import { type VerdictJson, verdictJson } from "../../spam/verdict-json.ts";
import { explainScore, previewSpam, scorePost } from "../../submissions/manage/spam-operations.ts";
import { parseJson, readInput, sourceOf } from "../flags/arguments.ts";
import { serverOf } from "../remote/choose-server.ts";
import { addNoun, command, type CommandContext, refuse } from "../command.ts";
import type { OptionValues } from "../flags/option-values.ts";
import { readConfig } from "../open.ts";
import { operate } from "../operate.ts";
import { operationCommand } from "../operation-command.ts";
import type { Here } from "../output/terminal.ts";
import type { Output } from "../output/output.ts";
import { evaluateCommand } from "./spam-eval-command.ts";

export function register(program: Command): void {
  addNoun(program, "spam", "How posts are scored", [show, set, explain, evaluateCommand]);
}

const scopeOptions = [
  {
    flags: "--workspace <workspace>",
    summary: "the settings of a whole workspace (default: the only workspace)",
  },
  {
    flags: "--endpoint <endpoint>",
    summary: "the settings of one endpoint, which win over those of its workspace",
  },
] as const;

const show = operationCommand({
  usage: "show",
  options: scopeOptions,
  operation: showSpam,
  parts: withDefaults,
  input: ({ endpoint, workspace }) => ({ endpoint, workspace }),
  print({ output }, { plan, custom_spam: customSpam, settings }) {
    const rows = Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)]);
    output.table(["SETTING", ""], rows, "");
    if (!customSpam) output.note(`the plan ${plan} has the built-in settings only`);
  },
});

const choiceOptions = [
  {
    flags: "--max-links <count>",
    summary: "links that a post may have before they cost points",
    parse: parseLinks,
  },
  { flags: "--technical <on|off>", summary: "whether the form takes bug reports", choices: ["on", "off"] },
  {
    flags: "--keyword <word[=points|=block]>",
    summary: "a word or phrase that speaks for spam (default: 25 points); repeatable",
    repeatable: true,
  },
  {
    flags: "--file <file>",
    summary: "replace all settings by those of a JSON file; - reads standard input",
  },
] as const;

const set = command({
  usage: "set",
  summary: "Set spam settings of a workspace or endpoint (plans with own spam rules)",
  options: [
    ...scopeOptions,
    ...choiceOptions,
    { flags: "--dry-run", summary: "store nothing; show how the last 500 posts would have been scored" },
  ],
  examples: [
    "formsvc spam set --max-links 1 --keyword casino=40 --keyword 'dofollow link=block' --dry-run",
    "formsvc spam set --endpoint Bugs --technical on",
  ],
  action: (context, options) =>
    operate(context, async ({ perform }) => {
      const { endpoint, workspace, dryRun } = options;
      const input = { endpoint, workspace, ...readChange(options) };
      if (dryRun) {
        const preview = await perform(previewSpam, input, (here) => ({
          ...withDefaults(here),
          searches: null,
        }));
        return printPreview(context.output, preview);
      }
      const done = await perform(setSpam, input);
      if (context.output.isJson) return context.output.json(done);
      return context.output.note("the settings hold from now on");
    }),
});

const explain = command({
  usage: "explain <post>",
  summary: "Show the reasons of a score: of a stored or held post by id, or of a JSON body in a file or -",
  options: [
    {
      flags: "--endpoint <endpoint>",
      summary:
        "score a body as this endpoint would: with its schema, honeypots and settings, and its workspace's memory",
    },
  ],
  examples: [
    `echo '{"message":"cheap seo for your website"}' | formsvc spam explain -`,
    "formsvc spam explain held_01h455vb4pex5vsknk084sn02q",
  ],
  action: (context, options, [source]) => {
    const isStored = isId("sub", source) || isId("held", source);
    const { endpoint } = options;
    if (!isStored && endpoint === null) {
      const post = readBody(readJsonObject(source), DEFAULT_HONEYPOTS, {}, null);
      const verdict = verdictJson(scoreSpam(post, spamDefaultsOf(context), noHistory));
      return printVerdict(context.output, verdict);
    }
    return operate(context, async ({ perform }) => {
      if (isStored) return printStored(context.output, await perform(explainScore, { post: source }));
      const input = { endpoint: endpoint ?? "", post: readJsonObject(source) };
      return printScored(context.output, await perform(scorePost, input, withDefaults));
    });
  },
});

function withDefaults({ config }: Here): { readonly spamDefaults: SpamSettings } {
  return { spamDefaults: spamDefaults(config) };
}

function printScored(output: Output, { unfit, ...verdict }: z.output<typeof scorePost.output>): void {
  if (unfit.length > 0)
    output.note(
      `the server refuses this post: it does not match the schema (${unfit.map(({ field }) => field).join(", ")})`,
    );
  printVerdict(output, verdict);
}

function printStored(output: Output, { version, ...verdict }: z.output<typeof explainScore.output>): void {
  if (version !== FILTER_VERSION)
    output.note(
      `version ${version} of the filter gave this score; posts are scored by version ${FILTER_VERSION} now`,
    );
  printVerdict(output, verdict);
}

function readJsonObject(file: string): Record<string, unknown> {
  const value = parseJson(readInput(file), sourceOf(file));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new FormsvcError("usage", "the post is not a JSON object");
  }
  return value as Record<string, unknown>;
}

function printVerdict(output: Output, verdict: VerdictJson): void {
  if (output.isJson) return output.json(verdict);
  const { score, class: spamClass, reasons } = verdict;
  const rows = reasons.map((reason) => [signed(reason), reason.signal, reason.field ?? "", reason.detail]);
  output.table(["POINTS", "SIGNAL", "FIELD", "WHY"], [...rows, [String(score), "=", "", spamClass]], "");
  return undefined;
}

function signed({ points }: Pick<SpamReason, "points">): string {
  return points > 0 ? `+${points}` : String(points);
}

/** The choices that the options name. A file replaces all choices; single options change only the choices that they name. */
function readChange(options: OptionValues<typeof choiceOptions>): {
  readonly choices: SpamChoices;
  readonly replace: boolean;
} {
  const { maxLinks, technical, keyword, file } = options;
  if (Object.values({ maxLinks, technical, keyword, file }).every((value) => value === null))
    return refuse("give something to set, like --keyword");
  const named = {
    ...(maxLinks !== null && { maxLinks }),
    ...(technical !== null && { technical: technical === "on" }),
    ...(keyword !== null && { keywords: keyword.map(readKeyword) }),
  };
  const whole = file === null ? {} : parseSpamChoices(readInput(file), sourceOf(file));
  const choices = parseSpamChoices(JSON.stringify(replaceChoices(whole, named)), "options");
  return { choices, replace: file !== null };
}

function readKeyword(option: string): SpamKeyword {
  if (option === "") return refuse("--keyword is empty: expected a word or phrase");
  const keyword = parseKeyword(option);
  if (keyword !== null) return keyword;
  return refuse(`--keyword ${option}: expected points from -100 to 100, or block, behind the last =`);
}

function parseLinks(value: string): number {
  return /^\d{1,4}$/.test(value) && Number(value) <= 1000 ? Number(value) : refuse("expected 0 to 1000");
}

function spamDefaultsOf(context: CommandContext) {
  return spamDefaults(serverOf(context) === null ? readConfig(context) : defaultConfig);
}

function printPreview(output: Output, preview: z.output<typeof previewSpam.output>): void {
  if (output.isJson) return output.json(preview);
  const { changes } = preview;
  const rows = changes.map(({ id, before, after, reasons }) => [
    id,
    `${before.score} ${before.class}`,
    `${after.score} ${after.class}`,
    reasons.map((reason) => `${signed(reason)} ${reason.signal}`).join(", "),
  ]);
  output.table(["POST", "NOW", "THEN", "WHY"], rows, "no post would have scored otherwise");
  return output.note(
    `${changes.length} of the last ${countOf(preview.posts, "post")} would have scored otherwise`,
  );
}
