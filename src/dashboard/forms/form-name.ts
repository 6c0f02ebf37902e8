import type { EndpointName, EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";

/** The problem of a form without a name. */
export const GIVE_NAME = "Give the form a name.";

/** The form's name in a row. @param showsWorkspace whether the workspace's name stands below it, for viewers who see several */
export function formName(endpoint: EndpointInWorkspace | undefined, showsWorkspace: boolean): Html {
  return html`<bdi>${endpoint?.name}</bdi>${
    showsWorkspace && html`<small><bdi>${endpoint?.workspaceName}</bdi></small>`
  }`;
}

/**
 * Whether the forms belong to several workspaces, so that a name alone may be ambiguous.
 *
 * @param choices the forms that the viewer may see
 */
export function hasSeveralWorkspaces(choices: readonly EndpointName[]): boolean {
  return new Set(choices.map(({ workspaceId }) => workspaceId)).size > 1;
}
