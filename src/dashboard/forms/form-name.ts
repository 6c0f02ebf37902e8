import type { EndpointName, EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";

/** The form of a row. @param showsWorkspace under it, for who sees the forms of several. */
export function formName(endpoint: EndpointInWorkspace | undefined, showsWorkspace: boolean): Html {
  return html`<bdi>${endpoint?.name}</bdi>${
    showsWorkspace && html`<small><bdi>${endpoint?.workspaceName}</bdi></small>`
  }`;
}

/** Whether a name alone may mean forms of several workspaces. @param choices the forms that the viewer may see. */
export function hasSeveralWorkspaces(choices: readonly EndpointName[]): boolean {
  return new Set(choices.map(({ workspaceId }) => workspaceId)).size > 1;
}
