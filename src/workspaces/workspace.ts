import type { Brand } from "../foundation/brand.ts";
import { FormsvcError } from "../foundation/errors.ts";

export interface Account {
  readonly id: string;
  readonly email: string;
  /** Whether the account sees every workspace and the whole installation. The first account does. */
  readonly isOperator: boolean;
  /**
   * Whether nobody has shown yet whose address the account has. Whoever made the link of an invitation could have made the account with it,
   * under somebody else's address. Neither a proxy nor an issuer is believed about such an account.
   */
  readonly isDoubtful: boolean;
  readonly createdAt: number;
}

export interface Workspace {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly plan: string;
  /** The time zone of its e-mails, by its name in the IANA database; null means UTC. */
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
  /** Null means unlimited. */
  readonly limit: number | null;
  /** Never below 0; null means unlimited. */
  readonly remaining: number | null;
}

/** The usage of a workspace with its name, for people. */
export interface NamedUsage extends Usage {
  readonly name: string;
}

/** The plan of new workspaces if no other is configured. */
export const DEFAULT_PLAN = "hobby";
/** The longest name of a workspace or endpoint, in UTF-16 units. */
const MAX_NAME_LENGTH = 200;
export const MAX_EMAIL_LENGTH = 254;

export interface PlanLimits {
  /** The largest number of accepted submissions in a UTC calendar month; null means unlimited. */
  readonly monthlySubmissions: number | null;
  /** The largest number of endpoints of a workspace; null means unlimited. */
  readonly endpoints: number | null;
  /** Whether the workspace may have spam settings of its own. */
  readonly customSpam: boolean;
  /** The largest number of bytes of held posts; null or absent means unlimited. */
  readonly heldBytes?: number | null;
  /** The largest number of bytes of stored files; null or absent means unlimited. */
  readonly fileBytes?: number | null;
}

export type Plans = Readonly<Record<string, PlanLimits>>;

/** The limits of a plan; undefined if the plan is not configured, or was configured after this process started. */
export function findLimits(plans: Plans, plan: string): PlanLimits | undefined {
  return Object.hasOwn(plans, plan) ? plans[plan] : undefined;
}

/** The limits of a plan. @throws config_invalid if the configuration does not have the plan (any more) */
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

/** The plan with the most submissions a month; null if the given plan, which is configured, allows as many. */
export function findLargestPlan(plans: Plans, than: string): string | null {
  const allowed = (plan: string): number => plans[plan]?.monthlySubmissions ?? Infinity;
  const largest = Object.keys(plans).reduce(
    (most, plan) => (allowed(plan) > allowed(most) ? plan : most),
    than,
  );
  return largest === than ? null : largest;
}

/** Control characters, and marks that turn the direction of the text behind them too: a heading, or the line of a list. */
const UNFIT_IN_NAME = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** Trims and checks a name. @throws usage if it is empty, too long or has a character of {@link UNFIT_IN_NAME} */
export function checkName(text: string): string {
  const name = text.trim();
  if (name === "") throw new FormsvcError("usage", "the name is empty");
  if (name.length > MAX_NAME_LENGTH) {
    throw new FormsvcError("usage", `the name is longer than ${MAX_NAME_LENGTH} characters`);
  }
  if (UNFIT_IN_NAME.test(name))
    throw new FormsvcError(
      "usage",
      "the name has a control character or a mark that turns the direction of text",
    );
  return name;
}

/** The name that `Intl` gives a time zone, whatever the case of the text; null for UTC and for an empty text. @throws usage */
export function checkTimeZone(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    // An offset like +02:00 has no name and no daylight saving time.
    if (!/^[a-z]/i.test(text.trim())) throw new RangeError("no name");
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: text.trim() }).resolvedOptions();
    return timeZone === "UTC" ? null : timeZone;
  } catch {
    const given = JSON.stringify(text.slice(0, MAX_NAME_LENGTH));
    throw new FormsvcError("usage", `not a time zone: ${given}; give a name like Europe/Berlin or UTC`);
  }
}

/** Trims and checks an e-mail address. @throws usage if it cannot be one */
export function checkEmail(text: string): string {
  const email = text.trim();
  if (email.length > MAX_EMAIL_LENGTH || !/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email)) {
    throw new FormsvcError("usage", `not an e-mail address: ${JSON.stringify(text)}`);
  }
  return email;
}

export function isOnlyOperator(email: string): FormsvcError {
  return new FormsvcError("conflict", `${email} is the only operator`, {
    hint: { kind: "make_other_operator" },
  });
}
