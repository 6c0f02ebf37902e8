import { html, type Html } from "../../foundation/html.ts";
import type { Mark } from "../../history/teach.ts";
import type { SpamClass } from "../../spam/spam-verdict.ts";

/** What a class means to the owner of a form. There is no text for a genuine post. */
const CLASS_WORDS: Readonly<Record<Exclude<SpamClass, "low">, string>> = {
  medium: "worth a look",
  high: "suspicious",
  blocked: "spam",
};

interface Scored {
  readonly spamScore: number;
  readonly spamClass: SpamClass;
}

/** The score as a pill; null for a post with a low score. */
export function scorePill({ spamScore, spamClass }: Scored): Html | null {
  if (spamClass === "low") return null;
  const tone = spamClass === "blocked" ? "high" : spamClass;
  return html`<span class="pill ${tone}">${spamScore} · ${CLASS_WORDS[spamClass]}</span>`;
}

/** The score for a comparison; also shown for a post with a low score. */
export function scoreLabel(scored: Scored): Html {
  return scorePill(scored) ?? html`<span class="pill">${scored.spamScore}</span>`;
}

/** The owner's mark, which counts more than the score. */
export function markPill(mark: Mark): Html {
  return mark === "spam"
    ? html`<span class="pill high">marked spam</span>`
    : html`<span class="pill done">marked not spam</span>`;
}
