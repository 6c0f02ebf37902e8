import type { MadeSecret } from "../../apply/change.ts";
import type { FormsFile } from "../../apply/forms-file.ts";

/**
 * Returns the names and values of the lines for `eval`, for a new key or secret. A variable contains the form's name if no other form of
 * the file would get the same variable; else also the workspace's name; else the form's id. So it is the same in every run of the same
 * file.
 */
export function variableNames(file: FormsFile): (made: MadeSecret) => readonly (readonly [string, string])[] {
  const forms = file.workspaces.flatMap(({ name: workspace, endpoints }) =>
    endpoints.map(({ name: endpoint }) => ({ workspace, endpoint })),
  );
  const choices = [
    ({ endpoint }: Form) => words(endpoint),
    ({ workspace, endpoint }: Form) => `${words(workspace)}__${words(endpoint)}`,
  ];
  const taken = choices.map((choose) => Map.groupBy(forms, choose));
  const nameOf = (form: Form & { readonly endpointId: string }): string => {
    for (const [index, choose] of choices.entries())
      if (words(form.endpoint) !== "" && taken[index]?.get(choose(form))?.length === 1) return choose(form);
    return form.endpointId.toUpperCase();
  };
  return (made) => {
    const { endpointId, webhook, secret, publishable } = made;
    const prefix = `FORM_${nameOf(made)}`;
    if (webhook !== null) return [[`${prefix}_${webhook.id.toUpperCase()}_SECRET`, secret ?? ""]];
    return [
      [`${prefix}_ENDPOINT_ID`, endpointId],
      ...(secret === null ? [] : [[`${prefix}_SECRET_KEY`, secret] as const]),
      [`${prefix}_PUBLISHABLE_KEY`, publishable ?? ""],
    ];
  };
}

interface Form {
  readonly workspace: string;
  readonly endpoint: string;
}

function words(name: string): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "");
}
