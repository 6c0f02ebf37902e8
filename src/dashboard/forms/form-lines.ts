import type { Steps } from "../../database/steps.ts";
import { html } from "../../foundation/html.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { listPageFaults } from "../../submissions/receive/page-faults.ts";
import { listOftenSent } from "../../submissions/receive/often-sent.ts";
import type { FindingLine } from "../system/finding-line.ts";

/** Findings about the pages that contain the forms of these workspaces, for their owners to mend. */
export function* formLines(workspaceIds: readonly string[], now: number): Steps<FindingLine[]> {
  return [
    ...(yield* lostFileLines(workspaceIds, now)),
    ...(yield* inputLines(workspaceIds, now)),
    ...(yield* redirectLines(workspaceIds, now)),
  ];
}

function* lostFileLines(workspaceIds: readonly string[], now: number): Steps<FindingLine[]> {
  return (yield* listPageFaults("file_name", workspaceIds, now)).map(
    ({ endpointId, endpointName, what }) => ({
      text: html`A page with the form “<bdi>${endpointName}</bdi>” sends only the name of a file, in <bdi>${plainText(what)}</bdi>, so its visitors are refused. Give its form tag enctype="multipart/form-data".`,
      href: `/dashboard/endpoints/${endpointId}/keys`,
      label: "See the code",
    }),
  );
}

function* inputLines(workspaceIds: readonly string[], now: number): Steps<FindingLine[]> {
  return (yield* listOftenSent(workspaceIds, now)).flatMap(({ endpointId, endpointName, names, files }) => {
    const href = `/dashboard/endpoints/${endpointId}/fields`;
    const label = "See the fields";
    const lines: FindingLine[] = [];
    if (files.length > 0) {
      const text = html`“<bdi>${endpointName}</bdi>” is sent only the names of files, in <bdi>${files.join(", ")}</bdi>: the files themselves do not arrive. Give the form a field for files, and its page enctype="multipart/form-data".`;
      lines.push({ text, href: `/dashboard?endpoint=${endpointId}`, label: "See the posts" });
    }
    if (names.length > 0) {
      const text = html`“<bdi>${endpointName}</bdi>” is often sent what it has no field for: <bdi>${names.join(", ")}</bdi>. It is kept beside the fields.`;
      lines.push({ text, href, label });
    }
    return lines;
  });
}

function* redirectLines(workspaceIds: readonly string[], now: number): Steps<FindingLine[]> {
  return (yield* listPageFaults("redirect", workspaceIds, now)).map(({ endpointId, endpointName, what }) => ({
    text: html`A page with the form “<bdi>${endpointName}</bdi>” names a page after success on ${what === "" ? "no site" : html`<bdi>${plainText(what)}</bdi>`}, in _redirect. Nobody is led there, because that site may not post.`,
    href: `/dashboard/endpoints/${endpointId}`,
    label: "See the settings",
  }));
}
