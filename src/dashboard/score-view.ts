import { html, type Html } from "../foundation/html.ts";
import type { Mark } from "../history/teach.ts";
import type { SpamClass } from "../spam/spam-verdict.ts";

/** What a class means to the owner of a form. */
export const CLASS_WORDS: Readonly<Record<SpamClass, string>> = {
  low: "fine",
  medium: "worth a look",
  high: "suspicious",
  blocked: "spam",
};

export function scorePill({ spamScore, spamClass }: { spamScore: number; spamClass: SpamClass }): Html {
  const tone = spamClass === "blocked" ? "high" : spamClass;
  return html`<span class="pill ${tone}">${spamScore} · ${CLASS_WORDS[spamClass]}</span>`;
}

/** What its owner said counts more than the score. */
export function markPill(mark: Mark): Html {
  return mark === "spam"
    ? html`<span class="pill high">marked spam</span>`
    : html`<span class="pill done">marked not spam</span>`;
}
