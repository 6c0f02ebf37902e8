import type { Steps } from "../../database/steps.ts";
import { findReachableEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { listEndpointsInWorkspaces, type EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { Viewer } from "../../sessions/session.ts";
import { type Problems, selectOf } from "../kit/field.ts";
import { hasSeveralWorkspaces } from "./form-name.ts";

/** Choosing a form: two customers' forms of one name stand under their workspaces. */

/** Forms in the list; an operator may see any number of them. */
export const MAX_CHOICES = 500;

/** One more than {@link MAX_CHOICES} if there are too many to choose from. Those of a workspace stand together. */
export function listFormChoices(viewer: Viewer): Steps<EndpointInWorkspace[]> {
  return listEndpointsInWorkspaces(viewer, MAX_CHOICES + 1);
}

/** The fields of a form by their names; null if none that the viewer sees was chosen. */
export function* findFields(viewer: Viewer, endpointId: string): Steps<SchemaDefinition | null> {
  const endpoint = yield* findReachableEndpoint({ viewing: viewer, access: "endpoints:read" }, endpointId);
  return endpoint === undefined ? null : yield* readSchema(endpoint);
}

/** The options of a select, by workspace if there are several. @param chosen an id; empty is none. */
export function formOptions(choices: readonly EndpointInWorkspace[], chosen: string): Html {
  const offered = choices.slice(0, MAX_CHOICES);
  const option = ({ id, name }: EndpointInWorkspace): Html =>
    html`<option value="${id}" ${id === chosen && html` selected`}>${name}</option>`;
  if (!hasSeveralWorkspaces(choices)) return html`${offered.map(option)}`;
  const groups = Map.groupBy(offered, ({ workspaceId }) => workspaceId);
  return html`${[...groups.values()].map(
    (forms) => html`<optgroup label="${forms[0]?.workspaceName}">
      ${forms.map(option)}
    </optgroup>`,
  )}`;
}

/** The form of a new recipient. With several, none is chosen beforehand: the first one would get leads of another. */
export function formField(value: string, problems: Problems, choices: readonly EndpointInWorkspace[]): Html {
  const [only, ...others] = choices;
  const isAlone = only !== undefined && others.length === 0;
  return selectOf(
    { name: "endpoint", label: "Form", value, hint: "Whose posts are sent.", problems, isRequired: true },
    html`${!isAlone && html`<option value="">Choose the form</option>`}${formOptions(choices, value)}`,
  );
}

/** Notes that no form was chosen. */
export function checkFormChosen(problems: Map<string, string>, endpointId: string): void {
  if (endpointId === "") problems.set("endpoint", "Choose the form whose posts are sent.");
}
