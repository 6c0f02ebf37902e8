/** The longest name, in characters. */
const MAX_NAME_LENGTH = 200;
/** Control characters, invisible characters, and those that change the direction of text: `exe.fdp` must not look like `pdf.exe`. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
/** Characters that some operating system forbids in names, or gives a special meaning. */
const SIGNS = /[<>:"|?*]/g;

/**
 * Cleans the name of a file for people: without folders, and without invisible characters. The name is never used for storage. Null if
 * nothing is left.
 */
export function cleanName(given: string): string | null {
  // Browsers encode these three characters so, because they would end the name in the header.
  const written = given.toWellFormed().replace(/%(?:22|0D|0A)/gi, decodeURIComponent);
  const last = written.split(/[/\\]/).at(-1) ?? "";
  const shown = last.normalize("NFC").replace(UNSEEN, "").replace(SIGNS, "_").replace(/\s+/g, " ").trim();
  // Windows drops dots and spaces at the end of a name, so that the extension would be another.
  const name = shorten(shown.replace(/[. ]+$/, "").replace(/^[. ]+/, "")).replace(/[. ]+$/, "");
  return name === "" ? null : name;
}

/** Shortens a name and keeps its extension. */
function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_NAME_LENGTH) return name;
  const extension = /\.[^.]{1,20}$/u.exec(name)?.[0] ?? "";
  return characters.slice(0, MAX_NAME_LENGTH - Array.from(extension).length).join("") + extension;
}
