/** The number of characters of a text that are searched: a pitch gives the contact early. */
const MAX_SEARCHED = 6000;
/** The largest number of `@` signs that are looked at. */
const MAX_SIGNS = 8;
const MAX_LOCAL = 64;

const LOCAL = /[\p{L}\p{N}._%+-]+$/u;
const HOST = /[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,4}/uy;
const CHAT_NAME = /[a-z]\w{3,31}/iy;

/**
 * A phone number: 9 to 15 digits, with up to three other characters between two of them. It is not a date, and not part of a word, an
 * address or a sum.
 */
const PHONE =
  /(?<![\w/=.@-]|\d )(?!(?:19|20)\d\d[-./ ]|\d\d?[-./]\d\d?[-./](?:19|20)\d\d)\+?\d(?:[ ()./-]{0,3}\d){8,14}(?![ .-]?\d)/g;
/** The number of digits at the end that are compared, because people write numbers with and without the prefix of the country. */
const COMPARED_DIGITS = 9;
/** The least number of different digits: nobody has the number `000000000` or `1212121212`. */
const MIN_DIFFERENT_DIGITS = 4;

/** Finds the contacts in a text besides links: e-mail addresses, `@names` of chats, and the last digits of phone numbers. */
export function findContacts(text: string): string[] {
  const searched = text.length > MAX_SEARCHED ? text.slice(0, MAX_SEARCHED) : text;
  const contacts: string[] = [];
  let at = searched.indexOf("@");
  for (let signs = 0; at !== -1 && signs < MAX_SIGNS; signs += 1) {
    const contact = contactAround(searched, at);
    if (contact !== null) contacts.push(contact.toLowerCase());
    at = searched.indexOf("@", at + 1);
  }
  for (const number of searched.match(PHONE) ?? []) {
    const digits = number.replace(/\D/g, "");
    if (new Set(digits).size >= MIN_DIFFERENT_DIGITS) contacts.push(digits.slice(-COMPARED_DIGITS));
  }
  return contacts;
}

function contactAround(text: string, at: number): string | null {
  const local = LOCAL.exec(text.slice(Math.max(0, at - MAX_LOCAL), at))?.[0] ?? "";
  const expression = local === "" ? CHAT_NAME : HOST;
  expression.lastIndex = at + 1;
  const found = expression.exec(text)?.[0];
  return found === undefined ? null : `${local}@${found}`;
}
