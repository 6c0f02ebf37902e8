import type { Brand } from "../foundation/brand.ts";
import { FormsvcError } from "../foundation/errors.ts";

export interface Account {
  readonly id: string;
  readonly email: string;
  /** Whether it sees every workspace and the whole installation. The first account does. */
  readonly isOperator: boolean;
  /**
   * Whether nobody has shown yet whose address it has: whoever made the link of an invitation could have made the account with it, under
   * another one's address. Neither a proxy nor an issuer is believed about such an account.
   */
  readonly isDoubtful: boolean;
  readonly createdAt: number;
}

export interface Workspace {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly plan: string;
  /** Of the times in its e-mails, by its name in the IANA database; null is UTC. */
  readonly timeZone: string | null;
  readonly brand: Brand;
  readonly createdAt: number;
}

/** Accepted submissions of one workspace in one UTC month. */
export interface Usage {
  readonly workspaceId: string;
  readonly plan: string;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly used: number;
  /** Null is unlimited. */
  readonly limit: number | null;
  /** Null is unlimited; never below 0. */
  readonly remaining: number | null;
}

/** The usage of a workspace that people know by its name. */
export interface NamedUsage extends Usage {
  readonly name: string;
}

/** The plan of new workspaces if no other is configured. */
export const DEFAULT_PLAN = "hobby";
/** Longest name of a workspace or endpoint, in UTF-16 units. */
export const MAX_NAME_LENGTH = 200;
export const MAX_EMAIL_LENGTH = 254;

export interface PlanLimits {
  /** Accepted submissions a UTC calendar month; null is unlimited. */
  readonly monthlySubmissions: number | null;
  /** Endpoints a workspace may have; null is unlimited. */
  readonly endpoints: number | null;
  /** Whether the workspace may have spam rules of its own. */
  readonly customSpam: boolean;
  /** Bytes of refused posts that are held; null or absent is unlimited. */
  readonly heldBytes?: number | null;
  /** Bytes of files that are kept; null or absent is unlimited. */
  readonly fileBytes?: number | null;
}

export type Plans = Readonly<Record<string, PlanLimits>>;

/** Undefined if the plan is not configured, or was configured after this process started. */
export function findLimits(plans: Plans, plan: string): PlanLimits | undefined {
  return Object.hasOwn(plans, plan) ? plans[plan] : undefined;
}

/** @throws config_invalid when the database names a plan that the configuration no longer has. */
export function limitsOf(plans: Plans, plan: string): PlanLimits {
  const limits = findLimits(plans, plan);
  if (limits === undefined) {
    throw new FormsvcError(
      "config_invalid",
      `plans: a workspace is on the plan ${plan}, which is not configured`,
    );
  }
  return limits;
}

/** The plan that allows the most submissions a month; null if the given one, which is configured, allows as many. */
export function findLargestPlan(plans: Plans, than: string): string | null {
  const allowed = (plan: string): number => plans[plan]?.monthlySubmissions ?? Infinity;
  const largest = Object.keys(plans).reduce(
    (most, plan) => (allowed(plan) > allowed(most) ? plan : most),
    than,
  );
  return largest === than ? null : largest;
}

/** A name without its outer blanks. @throws usage when it is empty, too long or has control characters. */
export function checkName(text: string): string {
  const name = text.trim();
  if (name === "") throw new FormsvcError("usage", "the name is empty");
  if (name.length > MAX_NAME_LENGTH) {
    throw new FormsvcError("usage", `the name is longer than ${MAX_NAME_LENGTH} characters`);
  }
  if (/\p{Cc}/u.test(name)) throw new FormsvcError("usage", "the name has a control character");
  return name;
}

/** A time zone by the name that `Intl` gives it, whatever the case it was typed in; null for UTC, and for an empty text. @throws usage */
export function checkTimeZone(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    // An offset like +02:00 has no name, and no summer time.
    if (!/^[a-z]/i.test(text.trim())) throw new RangeError("no name");
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: text.trim() }).resolvedOptions();
    return timeZone === "UTC" ? null : timeZone;
  } catch {
    const given = JSON.stringify(text.slice(0, MAX_NAME_LENGTH));
    throw new FormsvcError("usage", `not a time zone: ${given}; give a name like Europe/Berlin or UTC`);
  }
}

/** An e-mail address without its outer blanks. @throws usage when it cannot be one. */
export function checkEmail(text: string): string {
  const email = text.trim();
  if (email.length > MAX_EMAIL_LENGTH || !/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email)) {
    throw new FormsvcError("usage", `not an e-mail address: ${JSON.stringify(text)}`);
  }
  return email;
}
