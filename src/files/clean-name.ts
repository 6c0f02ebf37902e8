/** In characters. */
const MAX_NAME_LENGTH = 200;
/** Controls, what does not show, and what turns the direction of text: `exe.fdp` must not look like `pdf.exe`. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
/** What no system lets in a name, or gives a meaning of its own. */
const SIGNS = /[<>:"|?*]/g;

/**
 * The name of a file as people see it: without the folders in front of it, and without characters that do not show. Storage never sees it.
 * Null if nothing is left that could be shown.
 */
export function cleanName(given: string): string | null {
  // Browsers write these three signs in this way, because they would end the name.
  const written = given.toWellFormed().replace(/%(?:22|0D|0A)/gi, decodeURIComponent);
  const last = written.split(/[/\\]/).at(-1) ?? "";
  const shown = last.normalize("NFC").replace(UNSEEN, "").replace(SIGNS, "_").replace(/\s+/g, " ").trim();
  // Windows drops dots and blanks at the end, so that another extension would count.
  const name = shorten(shown.replace(/[. ]+$/, "").replace(/^[. ]+/, "")).replace(/[. ]+$/, "");
  return name === "" ? null : name;
}

/** Keeps the extension. */
function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_NAME_LENGTH) return name;
  const extension = /\.[^.]{1,20}$/u.exec(name)?.[0] ?? "";
  return characters.slice(0, MAX_NAME_LENGTH - Array.from(extension).length).join("") + extension;
}
