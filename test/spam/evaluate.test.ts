import { expect, test } from "vitest";
import { readOwnTexts, unseenTexts } from "../../scripts/spam/texts.ts";
import { createEvaluation, type EvalReport, type EvalRow, parseEvalRow } from "../../src/spam/evaluate.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";

const settings = defaultSpamSettings(3);

function evaluate(rows: readonly EvalRow[], honeypots: readonly string[]): EvalReport {
  const evaluation = createEvaluation(settings, honeypots);
  for (const row of rows) evaluation.score(row);
  return evaluation.report();
}

test("of texts by writers who saw none of ours, three quarters of the spam are suspicious and half is blocked, and of the genuine ones one in a hundred is suspicious at most and none is blocked", () => {
  const rows = readOwnTexts(unseenTexts).map(({ id, source, label, text }) => ({
    id,
    source,
    label,
    data: { message: text },
  }));
  const { spam, ham } = evaluate(rows, []);
  expect(spam.rows).toBeGreaterThanOrEqual(590);
  expect(ham.rows).toBeGreaterThanOrEqual(900);
  expect(spam.at51 / spam.rows).toBeGreaterThanOrEqual(0.75);
  expect(spam.at76 / spam.rows).toBeGreaterThanOrEqual(0.5);
  expect(ham.at51 / ham.rows).toBeLessThanOrEqual(0.01);
  expect(ham.at76).toBe(0);
});

test("a report counts by source and label, and the area under the curve is that of the scores", () => {
  const rows = [
    { id: "1", source: "a", label: "spam" as const, data: { message: "hi", _gotcha: "x" } },
    { id: "2", source: "a", label: "ham" as const, data: { message: "hi" } },
    { id: "3", source: "b", label: "ham" as const, data: { message: "hi", _elapsed_ms: 10 } },
  ];
  const report = evaluate(rows, ["_gotcha"]);
  expect(report.sources.map(({ source }) => source)).toEqual(["a", "b"]);
  expect(report.spam).toEqual({ rows: 1, at26: 1, at51: 1, at76: 1 });
  expect(report.ham).toEqual({ rows: 2, at26: 0, at51: 0, at76: 0 });
  expect(report.rocAuc).toBe(1);
  expect(evaluate([], []).rocAuc).toBeNull();
});

test("a row that is not one is refused with its line", () => {
  expect(() => parseEvalRow("{", "line 7")).toThrow("line 7");
  expect(() => parseEvalRow('{"id":"1","source":"a","label":"maybe","data":{}}', "line 3")).toThrow(
    /line 3: label/,
  );
});
