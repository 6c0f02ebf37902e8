import { FormsvcError } from "./errors.ts";
import { plainLines } from "./plain-text.ts";

/** How a workspace looks to visitors and in its e-mails. Null means our own look. */
export interface Brand {
  /** `#rrggbb`, in small letters. */
  readonly colour: string | null;
  readonly name: string | null;
  /** May have several lines. */
  readonly footer: string | null;
}

export const NO_BRAND: Brand = { colour: null, name: null, footer: null };

/** This limit and the next are in bytes of UTF-8. */
const MAX_NAME_BYTES = 200;
const MAX_FOOTER_BYTES = 1000;
/** The longest part of a refused text that an error message quotes, in characters. */
const MAX_QUOTED_LENGTH = 100;

/** Checks a brand and returns it in the form that is stored; an empty text becomes null. @throws usage naming what is wrong */
export function checkBrand({ colour, name, footer }: Brand): Brand {
  return {
    colour: isEmpty(colour) ? null : checkColour(colour.trim()),
    name: isEmpty(name) ? null : checkBrandText("name", name, MAX_NAME_BYTES),
    footer: isEmpty(footer) ? null : checkBrandText("footer", footer, MAX_FOOTER_BYTES),
  };
}

/** @returns the colour in small letters @throws usage on any other notation of CSS, because the text is put into a style sheet */
export function checkColour(text: string): string {
  if (isColour(text.toLowerCase())) return text.toLowerCase();
  const given = JSON.stringify(text.slice(0, MAX_QUOTED_LENGTH));
  throw new FormsvcError("usage", `not a colour: ${given}; write it like #0b6e5f`);
}

export function isColour(text: string): boolean {
  return /^#[0-9a-f]{6}$/.test(text);
}

/** Black or white: the one with more contrast on the colour (WCAG's contrast ratio), which is at least 4.5 for every colour. */
export function inkOn(colour: string): "#000000" | "#ffffff" {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
}

function isEmpty(text: string | null): text is null {
  return text === null || text.trim() === "";
}

function checkBrandText(what: "name" | "footer", given: string, maxBytes: number): string {
  const text = given.replaceAll(/\r\n?/g, "\n").trim().toWellFormed();
  if (Buffer.byteLength(text) > maxBytes)
    throw new FormsvcError("usage", `the ${what} for visitors is longer than ${maxBytes} bytes`);
  const hasBreak = /[\n\t]/.test(text);
  if (plainLines(text) !== text || (what === "name" && hasBreak))
    throw new FormsvcError(
      "usage",
      `the ${what} for visitors has a control character or a mark that turns the direction of text`,
    );
  return text;
}
