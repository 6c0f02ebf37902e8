import { countOf } from "../foundation/count-of.ts";
import type { LetterContent } from "../mail/letter-store.ts";
import { oneLine } from "../mail/mail-text.ts";
import type { NearLimit } from "../workspaces/near-limit.ts";

/** What a letter says: 80 % are used, all are used, or the first post is held. */
export interface LimitNotice extends NearLimit {
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly what: "near" | "full" | "held";
}

interface Reader {
  readonly isOperator: boolean;
  readonly dashboardUrl: string | null;
  /** `held.days` */
  readonly heldDays: number | null;
}

const MAX_NAME_LENGTH = 80;

export function limitLetter(notice: LimitNotice, reader: Reader): LetterContent {
  const { dashboardUrl } = reader;
  const name = oneLine(notice.name, MAX_NAME_LENGTH);
  const page = notice.what === "held" ? HELD_PAGE : USAGE_PAGE;
  return {
    subject: subjectOf(notice, name),
    paragraphs: [...sentencesOf(notice, name, reader), adviceFor(notice, reader)],
    link: dashboardUrl === null ? null : { label: page.label, url: `${dashboardUrl}${page.path}` },
  };
}

const USAGE_PAGE = { label: "See the usage", path: "/usage" };
const HELD_PAGE = { label: "See the held posts", path: "/held" };

function subjectOf({ what, limit }: LimitNotice, name: string): string {
  if (what === "near")
    return `80 % of the month's ${countOf(limit, "submission")} ${limit === 1 ? "is" : "are"} used: ${name}`;
  if (what === "full")
    return `${limit === 1 ? "The one submission" : `All ${limit} submissions`} of the month ${limit === 1 ? "is" : "are"} used: ${name}`;
  return `A post is held because the month is full: ${name}`;
}

function sentencesOf(
  { what, used, limit, plan, month }: LimitNotice,
  name: string,
  { heldDays }: Reader,
): string[] {
  const count = `The workspace ${name} has taken ${used} of the ${countOf(limit, "submission")} that its plan ${plan} allows in ${month} (UTC).`;
  const kept = heldDays === null ? "" : ` They are kept for ${countOf(heldDays, "day")}.`;
  const held = `Posts over the limit are held: nobody is told of them, and nothing is sent on, until they are released.${kept} Visitors read that their message may be read later.`;
  if (what === "near") return [count, held];
  if (what === "full") return [`${count} From now on further posts are held.`, held];
  return [`${count} The first post over the limit has come and is held.`, held];
}

function adviceFor({ what }: LimitNotice, { isOperator }: Reader): string {
  const release = what === "near" ? "" : " Then release what is held.";
  if (!isOperator)
    return `To take more this month, ask whoever runs this server for a larger plan.${release}`;
  return `To take more this month, give the workspace another plan (dashboard: System, Workspaces), or raise monthlySubmissions of its plan in the configuration, in which null is unlimited.${release}`;
}
