import { html, type Html } from "../../foundation/html.ts";
import type { Mark } from "../../history/teach.ts";
import type { SpamClass } from "../../spam/spam-verdict.ts";

/** What a class means to the owner of a form; of a genuine post there is nothing to say. */
const CLASS_WORDS: Readonly<Record<Exclude<SpamClass, "low">, string>> = {
  medium: "worth a look",
  high: "suspicious",
  blocked: "spam",
};

interface Scored {
  readonly spamScore: number;
  readonly spamClass: SpamClass;
}

/** Nothing of a post that is not worth a look. */
export function scorePill({ spamScore, spamClass }: Scored): Html | null {
  if (spamClass === "low") return null;
  const tone = spamClass === "blocked" ? "high" : spamClass;
  return html`<span class="pill ${tone}">${spamScore} · ${CLASS_WORDS[spamClass]}</span>`;
}

/** For a comparison of scores: also of a post that is not worth a look. */
export function scoreLabel(scored: Scored): Html {
  return scorePill(scored) ?? html`<span class="pill">${scored.spamScore}</span>`;
}

/** What its owner said counts more than the score. */
export function markPill(mark: Mark): Html {
  return mark === "spam"
    ? html`<span class="pill high">marked spam</span>`
    : html`<span class="pill done">marked not spam</span>`;
}
