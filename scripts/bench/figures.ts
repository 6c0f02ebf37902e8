/** A measured value of a benchmark, and its target. */
export interface Figure {
  readonly figure: string;
  readonly value: number;
  /** The unit as it stands behind the value: "ms", "MB"; empty for a ratio. */
  readonly unit: string;
  /** The target; null if the figure has none. */
  readonly bound: { readonly atLeast: number } | { readonly atMost: number } | null;
}

export function isMet({ value, bound }: Figure): boolean {
  if (bound === null) return true;
  return "atLeast" in bound ? value >= bound.atLeast : value <= bound.atMost;
}

/** Writes the figures as a Markdown table. */
export function renderFigures(figures: readonly Figure[]): string {
  const rows = figures.map((each) => {
    const unit = each.unit === "" ? "" : ` ${each.unit}`;
    const verdict = each.bound === null ? "" : isMet(each) ? "yes" : "no";
    return `| ${each.figure} | ${round(each.value)}${unit} | ${renderBound(each.bound)} | ${verdict} |`;
  });
  return ["| figure | measured | should be | is |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function renderBound(bound: Figure["bound"]): string {
  if (bound === null) return "";
  return "atLeast" in bound ? `at least ${bound.atLeast}` : `at most ${bound.atMost}`;
}

/** Rounds to three digits, because a benchmark is not more exact. */
function round(value: number): string {
  if (Math.abs(value) >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}
