import type { LabelCounts, EvalReport, EvalRow } from "./evaluate.ts";
import type { SpamVerdict } from "./spam-verdict.ts";

/** The form of an evaluation's report in every JSON output. */
export function evaluationJson({ rows, sources, spam, ham, rocAuc, microseconds }: EvalReport) {
  return {
    rows,
    sources: sources.map((each) => ({
      source: each.source,
      spam: countsJson(each.spam),
      ham: countsJson(each.ham),
    })),
    spam: countsJson(spam),
    ham: countsJson(ham),
    roc_auc: rocAuc,
    microseconds,
  };
}

/** The score of one labelled post. */
export function evalScoreJson({ id }: EvalRow, { score, reasons }: SpamVerdict) {
  return { id, score, reasons };
}

function countsJson({ rows, at26, at51, at76 }: LabelCounts) {
  return { rows, at_26: at26, at_51: at51, at_76: at76 };
}
