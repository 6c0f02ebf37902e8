import type { Command } from "commander";
import { spamDefaults } from "../app/features.ts";
import { DEFAULT_HONEYPOTS } from "../endpoints/endpoint.ts";
import { countOf } from "../foundation/count-of.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import { judge, JUDGE_VERSION } from "../spam/judge.ts";
import { parseKeyword, type SpamKeyword } from "../spam/keyword.ts";
import { noHistory } from "../spam/spam-history.ts";
import { readBody } from "../spam/spam-post.ts";
import { parseSpamChoices, replaceChoices, type SpamChoices } from "../spam/spam-settings.ts";
import type { SpamReason, SpamVerdict } from "../spam/spam-verdict.ts";
import { verdictJson } from "../spam/verdict-json.ts";
import { setSpam } from "../endpoints/administer-endpoints.ts";
import { chooseScope, readSpamState } from "../endpoints/choose-spam.ts";
import { spamStateJson } from "../endpoints/spam-state-json.ts";
import { readChoices } from "../endpoints/spam-choices-store.ts";
import { type Explained, explainPost, readVerdict, type StoredVerdict } from "../submissions/explain-post.ts";
import { previewChoices, type Preview } from "../submissions/preview-choices.ts";
import { previewJson } from "../submissions/preview-json.ts";
import { parseJson, readInput } from "./arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "./command.ts";
import type { OptionValues } from "./option-values.ts";
import { readConfig, withDatabase } from "./open.ts";
import type { Output } from "./output.ts";
import { evaluateCommand } from "./spam-eval-command.ts";

export function register(program: Command): void {
  addNoun(program, "spam", "How posts are scored", [show, set, explainScore, evaluateCommand]);
}

const scopeOptions = [
  { flags: "--workspace <workspace>", summary: "a whole workspace's (default: the only one there is)" },
  { flags: "--endpoint <endpoint>", summary: "one endpoint's, which stand above its workspace's" },
] as const;

const show = command({
  usage: "show",
  summary: "Show the spam settings in force for a workspace or endpoint",
  options: scopeOptions,
  action: (context, options) =>
    withDatabase(context, async (db, config) => {
      const now = context.clock.now();
      const state = await db.transaction(function* () {
        const scope = yield* chooseScope(options, now, config.newWorkspacePlan);
        return yield* readSpamState(scope, config.plans, spamDefaults(config));
      });
      if (context.output.isJson) return context.output.json(spamStateJson(state));
      const { plan, customSpam, settings } = state;
      const rows = Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)]);
      context.output.table(["SETTING", ""], rows, "");
      if (!customSpam) context.output.note(`the plan ${plan} has the built-in settings only`);
      return undefined;
    }),
});

const choiceOptions = [
  { flags: "--max-links <count>", summary: "links that cost nothing", parse: parseLinks },
  { flags: "--technical <on|off>", summary: "whether the form takes bug reports", choices: ["on", "off"] },
  {
    flags: "--keyword <word[=points|=block]>",
    summary: "a word or phrase that speaks for spam (default: 25 points); may be repeated",
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
    { flags: "--dry-run", summary: "store nothing; show what it would have done to the last 500 posts" },
  ],
  examples: [
    "formsvc spam set --max-links 1 --keyword casino=40 --keyword 'dofollow link=block' --dry-run",
    "formsvc spam set --endpoint Bugs --technical on",
  ],
  action: (context, options) =>
    withDatabase(context, async (db, config) => {
      const now = context.clock.now();
      const chosen = await db.transaction(() => chooseScope(options, now, config.newWorkspacePlan));
      const choose = readChange(options);
      if (options.dryRun) {
        const parts = { plans: config.plans, defaults: spamDefaults(config) };
        const choices = choose(await db.read(() => readChoices(chosen.scope)));
        return printPreview(context.output, await previewChoices(db, chosen, choices, parts));
      }
      const choices = await db.transaction(function* () {
        const wanted = choose(yield* readChoices(chosen.scope));
        return yield* setSpam(null, chosen, { choices: wanted, plans: config.plans }, now);
      });
      if (context.output.isJson) return context.output.json({ chosen: choices });
      return context.output.note("the settings hold from now on");
    }),
});

const explainScore = command({
  usage: "explain <post>",
  summary: "Show the reasons of a score: of a stored or held post by id, or of a JSON body in a file or -",
  options: [
    {
      flags: "--endpoint <endpoint>",
      summary:
        "judge as this endpoint does: with its schema, honeypots and settings and its workspace's memory",
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
      return printVerdict(context.output, judge(post, spamDefaultsOf(context), noHistory));
    }
    return withDatabase(context, async (db, config) =>
      printVerdict(
        context.output,
        isStored
          ? tellVersion(context.output, await db.read(() => readVerdict(source)))
          : tellUnfit(
              context.output,
              await db.read(() =>
                explainPost(
                  { plans: config.plans, defaults: spamDefaults(config) },
                  endpoint ?? "",
                  readJsonObject(source),
                  context.clock.now(),
                ),
              ),
            ),
      ),
    );
  },
});

function tellUnfit(output: Output, { verdict, unfit }: Explained): SpamVerdict {
  if (unfit.length > 0)
    output.note(
      `the server refuses this post: it does not match the schema (${unfit.map(({ field }) => field).join(", ")})`,
    );
  return verdict;
}

function tellVersion(output: Output, { verdict, version }: StoredVerdict): SpamVerdict {
  if (version !== JUDGE_VERSION)
    output.note(
      `version ${version} of the filter gave this score; posts are judged by version ${JUDGE_VERSION} now`,
    );
  return verdict;
}

function readJsonObject(file: string): Record<string, unknown> {
  const value = parseJson(readInput(file), sourceOf(file));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new FormsvcError("usage", "the post is not a JSON object");
  }
  return value as Record<string, unknown>;
}

function sourceOf(file: string): string {
  return file === "-" ? "standard input" : file;
}

function printVerdict(output: Output, verdict: SpamVerdict): void {
  if (output.isJson) return output.json(verdictJson(verdict));
  const { score, spamClass, reasons } = verdict;
  const rows = reasons.map((reason) => [signed(reason), reason.signal, reason.field ?? "", reason.detail]);
  output.table(["POINTS", "SIGNAL", "FIELD", "WHY"], [...rows, [String(score), "=", "", spamClass]], "");
  return undefined;
}

function signed({ points }: SpamReason): string {
  return points > 0 ? `+${points}` : String(points);
}

/** The choices after the command, from those before it: a file replaces all, and single options change only what they name. */
function readChange(options: OptionValues<typeof choiceOptions>): (before: SpamChoices) => SpamChoices {
  const { maxLinks, technical, keyword, file } = options;
  if (Object.values({ maxLinks, technical, keyword, file }).every((value) => value === null))
    return refuse("give something to set, like --keyword");
  const whole = file === null ? null : parseSpamChoices(readInput(file), sourceOf(file));
  const named = {
    ...(maxLinks !== null && { maxLinks }),
    ...(technical !== null && { technical: technical === "on" }),
    ...(keyword !== null && { keywords: keyword.map(readKeyword) }),
  };
  return (before) => parseSpamChoices(JSON.stringify(replaceChoices(whole ?? before, named)), "options");
}

function readKeyword(option: string): SpamKeyword {
  const keyword = parseKeyword(option);
  if (keyword !== null) return keyword;
  return refuse(`--keyword ${option}: expected points from -100 to 100, or block, behind the last =`);
}

function parseLinks(value: string): number {
  return /^\d{1,4}$/.test(value) && Number(value) <= 1000 ? Number(value) : refuse("expected 0 to 1000");
}

function spamDefaultsOf(context: CommandContext) {
  return spamDefaults(readConfig(context));
}

function printPreview(output: Output, preview: Preview): void {
  if (output.isJson) return output.json(previewJson(preview));
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
