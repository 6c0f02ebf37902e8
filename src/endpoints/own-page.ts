import { checkColour } from "../foundation/brand.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isOriginAllowed } from "./allowed-origin.ts";

/** A form's own page, at `/p/` and its id or name, for owners who have no page of theirs to put the form into. */
export interface OwnPage {
  readonly isOn: boolean;
  /** Null means the name of the form. */
  readonly title: string | null;
  readonly intro: string | null;
  /** `#rrggbb`; null means the colour of the workspace's brand. */
  readonly colour: string | null;
  /** An address within one of the form's allowed origins. */
  readonly logo: string | null;
  /** The text after the form was sent; null means the built-in sentence. */
  readonly thanks: string | null;
}

export const NO_PAGE: OwnPage = {
  isOn: false,
  title: null,
  intro: null,
  colour: null,
  logo: null,
  thanks: null,
};

const MAX_TITLE_LENGTH = 100;
const MAX_TEXT_LENGTH = 2000;
const MAX_LOGO_LENGTH = 500;

/** Checks an own page and returns it in the form that is stored. @throws usage naming what is wrong */
export function checkPage(page: OwnPage, allowedOrigins: readonly string[]): OwnPage {
  return {
    isOn: page.isOn,
    title: checkText("title", page.title, MAX_TITLE_LENGTH),
    intro: checkText("introduction", page.intro, MAX_TEXT_LENGTH),
    colour: page.colour === null ? null : checkColour(page.colour),
    logo: page.logo === null ? null : checkLogo(page.logo, allowedOrigins),
    thanks: checkText("thank-you text", page.thanks, MAX_TEXT_LENGTH),
  };
}

/** Checks a text; an empty one becomes null. */
function checkText(what: string, given: string | null, maximum: number): string | null {
  const text = (given ?? "").replaceAll(/\r\n?/g, "\n").trim();
  if (text.length > maximum)
    throw new FormsvcError("usage", `the page's ${what} is longer than ${maximum} characters`);
  if (/[^\P{Cc}\n\t]/u.test(text) || (maximum === MAX_TITLE_LENGTH && text.includes("\n")))
    throw new FormsvcError("usage", `the page's ${what} has a control character`);
  return text === "" ? null : text.toWellFormed();
}

/** Checks the address of a logo and returns it in the form that is stored. @throws usage naming what is wrong */
export function checkLogo(text: string, allowedOrigins: readonly string[]): string {
  const url = text.length <= MAX_LOGO_LENGTH && URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.password !== "")
    throw new FormsvcError("usage", `not an https address for the logo: ${quoted(text)}`);
  if (allowedOrigins.length > 0 && isOriginAllowed(url.origin, allowedOrigins)) return url.href;
  throw new FormsvcError(
    "usage",
    `the logo must come from one of the form's allowed origins, and ${url.origin} is none of them; allow it first`,
  );
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, MAX_TITLE_LENGTH));
}

/** The value that is stored; null for a form that never had a page. */
export function pageColumn(page: OwnPage): string | null {
  const isNothing = !page.isOn && Object.values(page).every((value) => value === null || value === false);
  return isNothing ? null : JSON.stringify(page);
}

export function readPageColumn(column: string | null): OwnPage {
  return column === null ? NO_PAGE : { ...NO_PAGE, ...(JSON.parse(column) as Partial<OwnPage>) };
}
