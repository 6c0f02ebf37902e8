import { html, type Html } from "../../foundation/html.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { isFileList, type ListedFile, sizeText } from "../../foundation/file-list.ts";
import type { WholeSubmission } from "./read-submission.ts";

/** What every browser shows and none runs. They come by the same address as a saved file. */
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** Larger pictures are only saved: a phone's connection is slow. */
const MAX_SHOWN_BYTES = 5_242_880;

/** A list of files, each with a link that saves it; null if the value is none. */
export function filesView(
  value: unknown,
  { submission, fileIds, may }: Pick<WholeSubmission, "submission" | "fileIds" | "may">,
): Html | null {
  if (!isFileList(value)) return null;
  const mayDelete = may.change && submission.deletedAt === null;
  const hasSeveral = value.filter(({ id }) => fileIds.has(id)).length > 1;
  return html`<ul class="files">
    ${value.map((file) => {
      const isThere = fileIds.has(file.id);
      return html`<li>${fileView(file, submission.id, isThere)} ${isThere && mayDelete && deletion(file, submission.id)}</li>`;
    })}
  </ul>
  ${hasSeveral && html`<p><a href="/dashboard/submissions/${submission.id}/files.zip" download>Save all files of the submission (ZIP)</a></p>`}`;
}

/** Needs two steps: the form is opened first. */
function deletion({ id, name }: ListedFile, submissionId: string): Html {
  return html`<details class="act">
    <summary>Delete<span class="hidden-text"> the file ${plainText(name)}</span>…</summary>
    <form method="post" action="/dashboard/submissions/${submissionId}/files/${id}/delete">
      <p>Its bytes are deleted for good; its name and size stay here.</p>
      <button class="danger">Delete the file</button>
    </form>
  </details>`;
}

function fileView({ id, name, size, type }: ListedFile, submissionId: string, isThere: boolean): Html {
  const shown = plainText(name);
  const facts = html`<span class="muted">${sizeText(size)}</span>`;
  if (!isThere) return html`<bdi>${shown}</bdi> ${facts} <span class="muted">not kept any more</span>`;
  const address = `/dashboard/submissions/${submissionId}/files/${id}`;
  const isPicture = PICTURES.has(type) && size <= MAX_SHOWN_BYTES;
  return html`${isPicture && html`<img src="${address}" alt="${shown}" loading="lazy" />`}
    <a href="${address}" download><bdi>${shown}</bdi></a> ${facts}`;
}
