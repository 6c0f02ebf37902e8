import { open } from "node:fs/promises";
import { compose } from "node:stream";
import { createGunzip } from "node:zlib";
import { spamDefaults } from "../../app/features.ts";
import { DEFAULT_HONEYPOTS } from "../../endpoints/endpoint.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { type LabelCounts, createEvaluation, type EvalReport, parseEvalRow } from "../../spam/evaluate.ts";
import { evalScoreJson, evaluationJson } from "../../spam/evaluation-json.ts";
import { sourceOf } from "../flags/arguments.ts";
import { findUnfit } from "../../submissions/receive/parse-body.ts";
import { command, refuse } from "../command.ts";
import { readSettings } from "../open.ts";
import type { Output } from "../output/output.ts";

export const evaluateCommand = command({
  usage: "eval <file>",
  isLocal: true,
  summary: "Measure the filter on labelled posts, one JSON object a line (gzip is understood)",
  options: [{ flags: "--scores", summary: "print each post's score and reasons, one JSON object a line" }],
  examples: [
    "formsvc spam eval posts.jsonl",
    `echo '{"id":"1","source":"mine","label":"ham","data":{"message":"hello"}}' | formsvc spam eval --scores -`,
  ],
  action: async ({ output, ...context }, options, [file]) => {
    const { scores: printScores } = options;
    const evaluation = createEvaluation(
      spamDefaults(readSettings({ output, ...context })),
      DEFAULT_HONEYPOTS,
    );
    let lineNumber = 0;
    for await (const line of linesOf(file)) {
      lineNumber += 1;
      if (line.trim() === "") continue;
      const position = `${sourceOf(file)}: line ${lineNumber}`;
      const row = parseEvalRow(line, position);
      // A server refuses such a post before it is scored.
      const unfit = findUnfit(row.data);
      if (unfit !== undefined) refuse(`${position}: data ${unfit}`);
      const verdict = evaluation.score(row);
      if (printScores) output.jsonLine(evalScoreJson(row, verdict));
    }
    if (!printScores) print(output, evaluation.report());
  },
});

/**
 * Yields the lines of a file. Only line feeds end a line, because JSON may hold other line breaks.
 *
 * @throws usage if the file cannot be read
 */
async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    const bytes = file === "-" ? process.stdin : (await open(file)).createReadStream();
    const input = file.endsWith(".gz") ? compose(bytes, createGunzip()) : bytes;
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of input) {
      const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    yield rest;
  } catch (error) {
    if (error instanceof FormsvcError) throw error;
    throw new FormsvcError("usage", `${file}: cannot be read (${(error as Error).message})`, {
      cause: error,
    });
  }
}

function print(output: Output, report: EvalReport): void {
  if (output.isJson) return output.json(evaluationJson(report));
  const rows = report.sources.flatMap(({ source, spam, ham }) => [
    ...row(source, "spam", spam),
    ...row(source, "ham", ham),
  ]);
  output.table(
    ["SOURCE", "LABEL", "POSTS", ">=26", ">=51", ">=76"],
    [...rows, ...row("all", "spam", report.spam), ...row("all", "ham", report.ham)],
    "no posts",
  );
  const { p50, p99 } = report.microseconds;
  output.line(`ROC AUC ${report.rocAuc === null ? "-" : report.rocAuc.toFixed(4)}`);
  return output.line(`time a post: p50 ${p50.toFixed(0)} us, p99 ${p99.toFixed(0)} us`);
}

function row(source: string, label: string, counts: LabelCounts): string[][] {
  if (counts.rows === 0) return [];
  const share = (count: number): string => `${((count / counts.rows) * 100).toFixed(2)} %`;
  const { rows, at26, at51, at76 } = counts;
  return [[source, label, String(rows), share(at26), share(at51), share(at76)]];
}
