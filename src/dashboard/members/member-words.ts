import { html, type Html } from "../../foundation/html.ts";
import type { MemberRole, Membership } from "../../workspaces/member-store.ts";

export const ROLE_NAMES: Readonly<Record<MemberRole, string>> = {
  owner: "Owner",
  editor: "Editor",
  reader: "Reader",
};

export const ROLE_CHOICES = [
  { value: "reader", label: "Reader", about: "Read posts and mark them as read. No settings, no keys." },
  {
    value: "editor",
    label: "Editor",
    about: "Also mark, assign and delete posts, change forms and notifications.",
  },
  { value: "owner", label: "Owner", about: "Everything, members and deleting too." },
] as const;

/** What a member may do, in words. @param names the names of the endpoints that the member sees; null means all */
export function membershipWords(
  { role, mayExport, seesSpamDetails }: Membership,
  names: readonly string[] | null,
): Html {
  const off = [...(mayExport ? [] : ["no export"]), ...(seesSpamDetails ? [] : ["no spam details"])].join(
    ", ",
  );
  const rest = off === "" ? null : html`; ${off}`;
  if (names !== null) return html`${formsOf(names)}${rest}`;
  if (role === "owner") return html`Everything, members and deleting too`;
  if (role === "editor") return html`Forms, notifications and all about posts`;
  return html`All forms${rest}`;
}

/** The largest number of forms that a row names. The page of the member names all. */
const MAX_NAMED = 3;

function formsOf(names: readonly string[]): Html {
  if (names.length === 0) return html`No form: those of this member are deleted or moved`;
  const named = names.slice(0, MAX_NAMED).map((name, index) => html`${index > 0 && ", "}<bdi>${name}</bdi>`);
  const more = names.length - MAX_NAMED;
  return html`Only ${names.length === 1 ? "the form" : "the forms"} ${named}${more > 0 && ` and ${more} more`}`;
}
