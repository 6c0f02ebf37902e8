import type { Steps } from "../../database/steps.ts";
import { findReachableEndpoint, readSchema } from "../../endpoints/endpoint-store.ts";
import { listEndpointsInWorkspaces, type EndpointInWorkspace } from "../../endpoints/viewable-endpoints.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { Viewer } from "../../sessions/session.ts";
import { type Problems, selectOf } from "../kit/field.ts";
import { hasSeveralWorkspaces } from "./form-name.ts";

/** Lets people choose a form. Forms are grouped by workspace, so that two customers' forms with the same name can be told apart. */

/** The largest number of forms in the list, because an operator may see any number of them. */
const MAX_CHOICES = 500;

/** The forms to choose from, grouped by workspace; one more than {@link MAX_CHOICES} if there are too many. */
export function listFormChoices(viewer: Viewer): Steps<EndpointInWorkspace[]> {
  return listEndpointsInWorkspaces(viewer, MAX_CHOICES + 1);
}

/** The fields of a form by their names; null if no form was chosen, or one that the viewer does not see. */
export function* findFields(viewer: Viewer, endpointId: string): Steps<SchemaDefinition | null> {
  const endpoint = yield* findReachableEndpoint({ viewing: viewer, access: "endpoints:read" }, endpointId);
  return endpoint === undefined ? null : yield* readSchema(endpoint);
}

/** The options of a select, grouped by workspace if there are several. @param chosen an id; empty means none */
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

/**
 * The select for the form of a new recipient. If there are several forms, none is chosen beforehand: otherwise the first form's recipient
 * could get posts of another form.
 */
export function formField(value: string, problems: Problems, choices: readonly EndpointInWorkspace[]): Html {
  const [only, ...others] = choices;
  const isAlone = only !== undefined && others.length === 0;
  return selectOf(
    { name: "endpoint", label: "Form", value, hint: "Whose posts are sent.", problems, isRequired: true },
    html`${!isAlone && html`<option value="">Choose the form</option>`}${formOptions(choices, value)}`,
  );
}

/** Adds a problem if no form was chosen. */
export function checkFormChosen(problems: Map<string, string>, endpointId: string): void {
  if (endpointId === "") problems.set("endpoint", "Choose the form whose posts are sent.");
}
