import type { Steps } from "../database/steps.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { listViewableEndpoints } from "../endpoints/endpoint-store.ts";
import type { Html } from "../foundation/html.ts";
import type { Viewer } from "../sessions/session.ts";
import { type Problems, selectField } from "./field.ts";

/** The endpoint of a new recipient, in the form of each kind of recipient. */

/** Endpoints in the list; an operator may see any number of them. */
const MAX_OFFERED = 500;

export function listOffered(viewer: Viewer): Steps<Endpoint[]> {
  return listViewableEndpoints(viewer, { after: null, limit: MAX_OFFERED });
}

export function endpointField(value: string, problems: Problems, endpoints: readonly Endpoint[]): Html {
  return selectField(
    { name: "endpoint", label: "Endpoint", value, hint: "Whose submissions are sent.", problems },
    endpoints.map(({ id, name }) => ({ value: id, label: name })),
  );
}
