import type { Steps } from "../../database/steps.ts";
import { isAllowable } from "../../endpoints/allowed-origin.ts";
import { listRefusals, type Refusal } from "../../endpoints/refused-origins.ts";
import { viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Viewer } from "../../sessions/session.ts";
import { countReleasable } from "../../submissions/held/held-post.ts";
import type { FindingLine } from "../system/finding-line.ts";
import { pathOf } from "./endpoint-frame.ts";

/** The largest number of sites that are named, for each of the two kinds. The pages of their forms name the others. */
const MAX_LINES = 3;

/** Findings about sites whose posts were refused, each with what can be done, and about allowed sites whose posts are still held. */
export function* originLines(viewer: Viewer): Steps<FindingLine[]> {
  const endpointIds = yield* viewableEndpointIds(viewer, "endpoints:write");
  const refusals = yield* listRefusals(endpointIds);
  const lines = refusals
    .filter(({ isAllowed }) => !isAllowed)
    .slice(0, MAX_LINES)
    .map(refusedLine);
  for (const refusal of refusals.filter(({ isAllowed }) => isAllowed).slice(0, MAX_LINES)) {
    const held = yield* countReleasable(refusal.endpoint.id, refusal.origin);
    if (held > 0) lines.push(heldLine(refusal, held));
  }
  return lines;
}

function refusedLine(refusal: Refusal): FindingLine {
  const { endpoint, origin, posts } = refusal;
  const count = posts === 1 ? "One post" : `${posts} posts`;
  const were = posts === 1 ? "was" : "were";
  return {
    text:
      origin === "null"
        ? html`${count} to the form <bdi>${endpoint.name}</bdi> from a page that names no site (a sandboxed frame, or a file on
            somebody’s disk) ${were} refused.`
        : html`${count} from <bdi class="stranger">${origin}</bdi> to the form <bdi>${endpoint.name}</bdi> ${were} refused,
            because that site is not among the form’s.`,
    actions: actionForm(
      refusal,
      html`${isAllowable(origin) && html`<button name="do" value="allow">Allow this site</button> `}<button
          name="do"
          value="ignore"
        >
          They are not ours
        </button>`,
    ),
  };
}

function heldLine(refusal: Refusal, held: number): FindingLine {
  const count = held === 1 ? "One post" : `${held} posts`;
  return {
    text: html`${count} that <bdi class="stranger">${refusal.origin}</bdi> sent to the form
      <bdi>${refusal.endpoint.name}</bdi> before it was allowed ${held === 1 ? "is" : "are"} held.`,
    actions: actionForm(
      refusal,
      html`<button name="do" value="release">Release ${held === 1 ? "it" : "them"}</button>`,
    ),
  };
}

function actionForm({ endpoint, origin }: Refusal, buttons: Html): Html {
  return html`<form method="post" action="${pathOf(endpoint, "/origins")}">
    <input type="hidden" name="origin" value="${origin}" />${buttons}
  </form>`;
}
