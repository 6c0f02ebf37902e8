import { sizeText } from "../foundation/file-list.ts";
import type { FormDayNews } from "../files/form-days.ts";
import type { LetterContent } from "../mail/letters/letter-store.ts";
import { oneLine } from "../mail/compose/mail-text.ts";
import type { NearFormDay } from "../submissions/files/near-form-days.ts";

/** A letter about the files that came through a form's page in a day: they have reached 80 % of the limit, or some did not fit. */
export interface FormDayNotice extends NearFormDay {
  readonly what: FormDayNews;
}

interface Reader {
  readonly isOperator: boolean;
  readonly dashboardUrl: string | null;
}

const MAX_NAME_LENGTH = 80;

export function formDayLetter(notice: FormDayNotice, reader: Reader): LetterContent {
  const { dashboardUrl } = reader;
  const form = oneLine(notice.endpointName, MAX_NAME_LENGTH);
  return {
    subject:
      notice.what === "near"
        ? `80 % of a form's day for files is used: ${form}`
        : `A form's day for files is full: ${form}`,
    paragraphs: [...sentencesOf(notice, form), adviceFor(reader)],
    link:
      dashboardUrl === null
        ? null
        : { label: "See the form", url: `${dashboardUrl}/endpoints/${notice.endpointId}` },
  };
}

function sentencesOf({ what, day, bytes, limit, name, plan }: FormDayNotice, form: string): string[] {
  const workspace = oneLine(name, MAX_NAME_LENGTH);
  const came = `On ${day} (UTC) ${sizeText(bytes)} of files came through the page of the form ${form} of the workspace ${workspace}; on the plan ${plan}, ${sizeText(limit)} may come in a day.`;
  const refused =
    "posts to it that bring files which do not fit are refused (429) until 00:00 UTC, so that one form cannot fill the room of all";
  const first = what === "near" ? `When all of it came, ${refused}.` : `Since then ${refused}.`;
  return [came, `${first} Posts without files are taken as ever.`];
}

function adviceFor({ isOperator }: Reader): string {
  const onPurpose = "If somebody fills it on purpose, set a challenge for the form, which stops programs.";
  return isOperator
    ? `${onPurpose} If these are real visitors, raise files.maxFormShare or fileBytes of the plan in the configuration.`
    : `${onPurpose} If these are real visitors, ask whoever runs this server for a larger plan.`;
}
