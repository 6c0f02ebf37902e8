import { countOf } from "../../foundation/count-of.ts";
import { html, type Html } from "../../foundation/html.ts";
import { isId } from "../../foundation/id.ts";
import type { SpamClass } from "../../spam/spam-verdict.ts";
import type { Preview } from "../../submissions/manage/preview-choices.ts";
import { scoreLabel } from "../inbox/score-view.ts";

/** The largest number of changes that are shown. The sentence counts all of them. */
const MAX_SHOWN = 100;

/** The changes that are shown. Those that change what happens to a post come first. */
export function shownChanges({ changes }: Preview): Preview["changes"] {
  const moved = changes.filter(isMoved);
  return [...moved, ...changes.filter((each) => !isMoved(each))].slice(0, MAX_SHOWN);
}

function isMoved({ before, after }: Preview["changes"][number]): boolean {
  return before.class !== after.class;
}

/** What the settings that were typed would have done to the last posts. */
export function previewCard(preview: Preview, titles: ReadonlyMap<string, string>): Html {
  const { posts, changes } = preview;
  return html`<section class="card" role="status" aria-labelledby="preview">
    <header><h2 id="preview">What would change</h2></header>
    <p>${previewSentence(posts, changes.length, changes.filter(isMoved).length)} ${changes.length > MAX_SHOWN && `The first ${MAX_SHOWN} are shown.`} Nothing is saved yet.</p>
    ${changes.length > 0 && changeTable(shownChanges(preview), titles)}
  </section>`;
}

function previewSentence(posts: number, changes: number, moved: number): string {
  if (posts === 0) return "No posts came yet, so nothing can be shown.";
  if (changes === 0) return `None of the last ${countOf(posts, "post")} would have scored otherwise.`;
  const scored = `${changes} of the last ${countOf(posts, "post")} would have scored otherwise`;
  return moved === 0
    ? `${scored}, and none of them would have been treated otherwise.`
    : `${scored}; ${moved} would have been treated otherwise.`;
}

function changeTable(changes: Preview["changes"], titles: ReadonlyMap<string, string>): Html {
  return html`<div class="scroll folds" tabindex="0" role="region" aria-label="Posts that would have scored otherwise">
    <table>
      <thead>
        <tr><th scope="col">Post</th><th scope="col">Now</th><th scope="col">Then</th><th scope="col">Why then</th></tr>
      </thead>
      <tbody>
        ${changes.map(
          ({ id, before, after, reasons }) =>
            html`<tr>
              <th scope="row"><a class="link" href="${postPath(id)}"><bdi class="said">${titles.get(id) ?? (isId("held", id) ? "a held post" : id)}</bdi></a></th>
              <td data-label="Now">${scoreOf(before)}</td>
              <td data-label="Then">${scoreOf(after)}</td>
              <td class="full"><bdi>${reasons
                .map(({ points, detail }) => `${points > 0 ? "+" : ""}${points} ${detail}`)
                .join(" · ")
                .slice(0, MAX_REASON_LENGTH)}</bdi></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** The largest number of characters of a post's reasons. */
const MAX_REASON_LENGTH = 300;

function postPath(id: string): string {
  return isId("held", id) ? `/dashboard/held/${id}` : `/dashboard/submissions/${id}`;
}

function scoreOf({ score, class: spamClass }: { readonly score: number; readonly class: SpamClass }): Html {
  return scoreLabel({ spamScore: score, spamClass });
}
