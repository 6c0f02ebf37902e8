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
  { submission, fileIds }: Pick<WholeSubmission, "submission" | "fileIds">,
): Html | null {
  if (!isFileList(value)) return null;
  return html`<ul class="files">
    ${value.map((file) => html`<li>${fileView(file, submission.id, fileIds.has(file.id))}</li>`)}
  </ul>`;
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
