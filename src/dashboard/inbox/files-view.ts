import { html, type Html } from "../../foundation/html.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { isFileList, type ListedFile, sizeText, stateText } from "../../foundation/file-list.ts";
import type { WholeSubmission } from "./read-submission.ts";

/** The types of pictures that every browser shows without running anything. They have the same address as a saved file. */
const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** Larger pictures are not shown and can only be saved, because a phone's connection may be slow. */
const MAX_SHOWN_BYTES = 5_242_880;

/** A list of files, each with a link that saves it; null if the value is not a list of files. */
export function filesView(
  value: unknown,
  {
    submission,
    fileIds,
    waitingIds,
    may,
  }: Pick<WholeSubmission, "submission" | "fileIds" | "waitingIds" | "may">,
): Html | null {
  if (!isFileList(value)) return null;
  const mayDelete = may.change && submission.deletedAt === null;
  const hasSeveral = value.filter(({ id }) => fileIds.has(id)).length > 1;
  return html`<ul class="files">
    ${value.map((file) => {
      const isThere = fileIds.has(file.id);
      const hasBytes = isThere || waitingIds.has(file.id);
      return html`<li>${fileView(file, submission.id, isThere)} ${hasBytes && mayDelete && deletion(file, submission.id)}</li>`;
    })}
  </ul>${hasSeveral && html`<p><a href="/dashboard/submissions/${submission.id}/files.zip" download>Save all files of the submission (ZIP)</a></p>`}`;
}

/** The form that deletes a file. It needs two steps: it must be opened first. */
function deletion({ id, name }: ListedFile, submissionId: string): Html {
  return html`<details class="act">
    <summary>Delete<span class="hidden-text"> the file ${plainText(name)}</span>…</summary>
    <form method="post" action="/dashboard/submissions/${submissionId}/files/${id}/delete">
      <p>Its bytes are deleted for good; its name and size stay here.</p>
      <button class="danger">Delete the file</button>
    </form>
  </details>`;
}

function fileView(file: ListedFile, submissionId: string, isThere: boolean): Html {
  const { id, name, size, type } = file;
  const shown = plainText(name);
  const facts = html`<span class="muted">${sizeText(size)}</span> ${stateView(file, isThere)}`;
  if (!isThere) return html`<span><bdi>${shown}</bdi> ${facts}</span>`;
  const address = `/dashboard/submissions/${submissionId}/files/${id}`;
  const isPicture = PICTURES.has(type) && size <= MAX_SHOWN_BYTES;
  return html`${isPicture && html`<img src="${address}" alt="${shown}" loading="lazy" />`}
    <span><a href="${address}" download><bdi>${shown}</bdi></a> ${facts}</span>`;
}

/** What has become of a file, in words; null if it has no such state. */
function stateView(file: ListedFile, isThere: boolean): Html | null {
  const words = stateText(isThere || file.state !== undefined ? file : { state: "deleted" });
  if (words === null) return null;
  if (file.state === "infected") return html`<span class="pill high">${plainText(words)}</span>`;
  if (file.state === "scanning") return html`<span class="pill">${words}</span>`;
  if (file.state !== "unscanned") return html`<span class="muted">${words}</span>`;
  const more = isThere ? null : html` <span class="muted">so nobody may open it</span>`;
  return html`<span class="pill medium">${words}</span>${more}`;
}
