import { sizeText } from "../foundation/file-list.ts";
import { countOf } from "../foundation/count-of.ts";
import type { LetterContent } from "../mail/letters/letter-store.ts";
import { oneLine } from "../mail/compose/mail-text.ts";
import type { NearLimit } from "../workspaces/near-limit.ts";

/**
 * A letter about a limit: 80 % or all of the month's submissions are used, or the first post is held; or the room for files is nearly full,
 * or full. In that case `used` and `limit` are bytes.
 */
export interface LimitNotice extends NearLimit {
  /** The month in UTC as `YYYY-MM`. */
  readonly month: string;
  readonly what: "near" | "full" | "held" | "files_near" | "files_full";
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
  if (what === "files_near") return `80 % of the room for files is used: ${name}`;
  if (what === "files_full") return `The room for files is full: ${name}`;
  if (what === "near")
    return `80 % of the month's ${countOf(limit, "submission")} ${limit === 1 ? "is" : "are"} used: ${name}`;
  if (what === "full")
    return `${limit === 1 ? "The one submission" : `All ${limit} submissions`} of the month ${limit === 1 ? "is" : "are"} used: ${name}`;
  return `A post is held because the month is full: ${name}`;
}

function sentencesOf(notice: LimitNotice, name: string, { heldDays }: Reader): string[] {
  const { what, used, limit, plan, month } = notice;
  if (what === "files_near" || what === "files_full") return filesSentences(notice, name);
  const count = `The workspace ${name} has taken ${used} of the ${countOf(limit, "submission")} that its plan ${plan} allows in ${month} (UTC).`;
  const kept = heldDays === null ? "" : ` They are kept for ${countOf(heldDays, "day")}.`;
  const held = `Posts over the limit are held: nobody is told of them, and nothing is sent on, until they are released.${kept} Visitors read that their message may be read later.`;
  if (what === "near") return [count, held];
  if (what === "full") return [`${count} From now on further posts are held.`, held];
  return [`${count} The first post over the limit has come and is held.`, held];
}

function filesSentences({ what, used, limit, plan }: LimitNotice, name: string): string[] {
  const room = `The files of the workspace ${name} take ${sizeText(used)} of the ${sizeText(limit)} that its plan ${plan} keeps.`;
  const refused = "a form that brings files is refused (429), and its visitor is asked to leave them out";
  return what === "files_near"
    ? [room, `When the room is full, ${refused}.`]
    : [room, `When files do not fit any more, ${refused}. Forms without files are taken as ever.`];
}

function adviceFor({ what }: LimitNotice, { isOperator }: Reader): string {
  if (what === "files_near" || what === "files_full")
    return isOperator
      ? "To keep more, give the workspace another plan (dashboard: System, Workspaces), or raise fileBytes of its plan in the configuration, in which null is unlimited. Deleted submissions take their files along."
      : "Delete submissions whose files are not needed any more (they stay in the bin for some days), or ask whoever runs this server for a larger plan.";
  const release = what === "near" ? "" : " Then release what is held.";
  if (!isOperator)
    return `To take more this month, ask whoever runs this server for a larger plan.${release}`;
  return `To take more this month, give the workspace another plan (dashboard: System, Workspaces), or raise monthlySubmissions of its plan in the configuration, in which null is unlimited.${release}`;
}
