import { FormsvcError } from "../foundation/errors.ts";
import type { OidcSettings } from "./oidc-settings.ts";

/** A person as an issuer describes them. */
export interface Person {
  readonly subject: string;
  /** An e-mail address that the issuer has checked. */
  readonly email: string;
  readonly isInOperatorGroup: boolean;
  /** Whether the issuer asked for a second factor. */
  readonly gaveSecondFactor: boolean;
}

type Claims = Readonly<Record<string, unknown>>;
type Rules = Pick<OidcSettings, "label" | "allowedDomains" | "groupsClaim" | "operatorGroup">;

const MAX_SUBJECT_LENGTH = 255;
const MAX_EMAIL_LENGTH = 254;

/**
 * Reads the claims of an ID token, which is signed, and asks the issuer for claims that the token does not have.
 *
 * @throws unauthorized if the address is missing, was not checked, or has a domain that is not allowed.
 */
export async function readPerson(
  claims: Claims,
  askMore: () => Promise<Claims>,
  rules: Rules,
): Promise<Person> {
  const { groupsClaim, operatorGroup } = rules;
  const needsGroups = operatorGroup !== null && claims[groupsClaim] === undefined;
  const needsEmail = claims["email"] === undefined || claims["email_verified"] === undefined;
  const more = needsGroups || needsEmail ? await askMore() : {};
  const groups = needsGroups ? more[groupsClaim] : claims[groupsClaim];
  return {
    subject: readSubject(claims["sub"]),
    // The address and its check come from the same source: a check in one says nothing about an address in the other.
    email: readEmail(needsEmail ? more : claims, rules),
    isInOperatorGroup: operatorGroup !== null && namesGroup(groups, operatorGroup),
    gaveSecondFactor: Array.isArray(claims["amr"]) && claims["amr"].includes("mfa"),
  };
}

function readSubject(subject: unknown): string {
  if (typeof subject === "string" && subject !== "" && subject.length <= MAX_SUBJECT_LENGTH) return subject;
  throw new FormsvcError("unauthorized", "The issuer names nobody that an account could be bound to.");
}

function readEmail(claims: Claims, { label, allowedDomains }: Rules): string {
  const { email, email_verified: isVerified } = claims;
  if (typeof email !== "string" || email === "")
    throw new FormsvcError(
      "unauthorized",
      `${label} gave no e-mail address. Whoever runs it lets this server have the scope “email”.`,
    );
  // Some issuers send the value as a text.
  if (isVerified !== true && isVerified !== "true")
    throw new FormsvcError(
      "unauthorized",
      `${label} has not checked your e-mail address (email_verified), so nobody was signed in.`,
    );
  const isAddress = email.length <= MAX_EMAIL_LENGTH && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email);
  if (!isAddress)
    throw new FormsvcError("unauthorized", `${label} gave a text that is not an e-mail address.`);
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  if (allowedDomains.length > 0 && !allowedDomains.includes(domain))
    throw new FormsvcError("unauthorized", "Addresses of your domain do not sign in here.");
  return email;
}

/** Whether the claim contains the group. It is a list of groups, or a single group. */
function namesGroup(groups: unknown, group: string): boolean {
  return groups === group || (Array.isArray(groups) && groups.includes(group));
}
