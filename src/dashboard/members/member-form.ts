import type { EndpointName } from "../../endpoints/viewable-endpoints.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { MEMBER_ROLES, type MemberRole, type Membership } from "../../workspaces/member-store.ts";
import { checkField, choiceField } from "../kit/field.ts";
import { ROLE_CHOICES } from "./member-words.ts";

/** The content of a form about a member, as it was typed. */
export interface TypedMembership {
  readonly role: MemberRole;
  readonly isBound: boolean;
  readonly endpoints: readonly string[];
  readonly mayExport: boolean;
  readonly seesSpamDetails: boolean;
}

export const NEW_MEMBER: TypedMembership = {
  role: "reader",
  isBound: false,
  endpoints: [],
  mayExport: true,
  seesSpamDetails: true,
};

export function typedOf({ role, endpoints, mayExport, seesSpamDetails }: Membership): TypedMembership {
  return { role, isBound: endpoints !== null, endpoints: endpoints ?? [], mayExport, seesSpamDetails };
}

export function readMembershipForm(form: URLSearchParams): TypedMembership {
  return {
    role: MEMBER_ROLES.find((role) => role === form.get("role")) ?? "reader",
    isBound: form.get("of") === "some",
    endpoints: form.getAll("endpoint"),
    mayExport: form.get("export") === "on",
    seesSpamDetails: form.get("spam_details") === "on",
  };
}

/**
 * The input of an operation. Settings without a meaning for the role are left out.
 *
 * @throws usage if the member is limited to no form at all
 */
export function membershipInputOf({ role, isBound, endpoints, mayExport, seesSpamDetails }: TypedMembership) {
  if (isBound && role !== "owner" && endpoints.length === 0)
    throw new FormsvcError("usage", "tick the forms that they see, or choose all");
  return {
    role,
    ...(role !== "owner" && { endpoints: isBound ? endpoints : null }),
    ...(role === "reader" && { export: mayExport, spam_details: seesSpamDetails }),
  };
}

/** @param forms the forms of the workspace, by name */
export function membershipFields(typed: TypedMembership, forms: readonly EndpointName[]): Html {
  const { role, isBound, endpoints, mayExport, seesSpamDetails } = typed;
  return html`${choiceField({ name: "role", label: "They may", value: role }, ROLE_CHOICES)}
    ${choiceField(
      {
        name: "of",
        label: "Of these forms",
        value: isBound ? "some" : "all",
        hint: "An owner sees all of them.",
      },
      [
        { value: "all", label: "All, also future ones", about: "" },
        { value: "some", label: "Only those that are ticked here", about: "" },
      ],
    )}
    ${
      forms.length > 0 &&
      html`<fieldset class="field ticks">
        <legend class="hidden-text">Forms</legend>
        ${forms.map(
          ({ id, name }) =>
            html`<label class="check"
              ><input type="checkbox" name="endpoint" value="${id}" ${endpoints.includes(id) && html` checked`} /> <bdi>${name}</bdi></label
            >`,
        )}
      </fieldset>`
    }
    ${checkField({ name: "export", label: "A reader may export posts", value: mayExport ? "on" : "" })}
    ${checkField({ name: "spam_details", label: "A reader sees why posts scored", value: seesSpamDetails ? "on" : "" })}`;
}
