import { html, type Html } from "../../foundation/html.ts";
import { MARKED_DAYS, type MarkedScores } from "../../submissions/find/marked-scores.ts";

/** The share of the marked posts, one in five, from which the filter does not suit the form. */
const MUCH = 0.2;
/** The number of marks below which nothing can be said. */
const FEW = 10;

/** How the posts that the owner marked had been scored. It shows whether the filter suits a form. */
export function markedScoresCard(scores: MarkedScores): Html {
  const { spam, ham } = scores;
  const rows = [
    ["Spam that was found", "marked spam, score 51 and more", spam.high + spam.blocked],
    ["Spam that was missed", "marked spam, score under 51", spam.low + spam.medium],
    ["Genuine posts that came through", "marked not spam, score under 51", ham.low + ham.medium],
    ["Genuine posts that looked suspicious", "marked not spam, score 51 to 75", ham.high],
    ["Genuine posts that were wrongly held", "released, score 76 and more", ham.blocked],
  ] as const;
  const all = rows.reduce((sum, [, , count]) => sum + count, 0);
  return html`<section class="card" aria-labelledby="marked">
    <header><h2 id="marked">How what you marked had scored</h2></header>
    <p class="muted">Posts that were marked or released in the last ${MARKED_DAYS} days, ${all} in all.</p>
    ${all === 0 ? html`<p>Nothing was marked yet. Mark posts in the inbox as spam or not spam, and you see here whether the filter suits.</p>` : markedTable(rows)}
    ${all >= FEW && doubt(scores, all)}
  </section>`;
}

function markedTable(rows: readonly (readonly [string, string, number])[]): Html {
  return html`<div class="scroll folds" tabindex="0" role="region" aria-label="How what you marked had scored">
    <table>
      <thead><tr><th scope="col">Posts</th><th scope="col">That is</th><th scope="col" class="right">Number</th></tr></thead>
      <tbody>
        ${rows.map(
          ([what, means, count]) =>
            html`<tr>
              <th scope="row">${what}</th>
              <td data-label="That is">${means}</td>
              <td data-label="Number" class="right num">${count}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function doubt({ spam, ham }: MarkedScores, all: number): Html | null {
  const missed = spam.low + spam.medium;
  const wronged = ham.high + ham.blocked;
  if (Math.max(missed, wronged) < all * MUCH) return null;
  return html`<p>
    ${wronged > missed ? "Many genuine posts looked like spam. Read their reasons: points below 0 for a word of your trade, or senders who are never spam, help." : "Much spam was missed. Read the reasons of some posts: a keyword or a blocked sender helps, and each mark teaches the filter."}
  </p>`;
}
