/** What a browser may fill in about the visitor (HTML's `autocomplete`), by the names of fields, without anything but letters and digits. */
const PURPOSES = {
  name: "name fullname yourname",
  "given-name": "firstname givenname forename vorname prenom prénom",
  "family-name": "lastname familyname surname nachname familienname",
  organization: "company companyname organization organisation firma unternehmen entreprise empresa azienda",
  "address-line1": "address address1 addressline1 street streetaddress adresse anschrift strasse straße",
  "address-line2": "address2 addressline2",
  "postal-code": "postcode postalcode zip zipcode plz postleitzahl codepostal",
  "address-level2": "city town ort stadt wohnort ville ciudad città",
  "country-name": "country pays país paese",
  bday: "birthday birthdate dateofbirth geburtstag geburtsdatum",
} as const;

const BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(PURPOSES).flatMap(([purpose, names]) =>
    names.split(" ").map((name): [string, string] => [name, purpose]),
  ),
);
/** A member of a group with the visitor's address, like `address[city]`. */
const IN_ADDRESS = /^(?:address|adresse|anschrift)\[([^[\]]+)\]$/i;

/**
 * The value of `autocomplete` for an input; null if the name does not tell one. What is in rows or other groups may be about somebody else.
 *
 * @param name the name of the input, like `first_name` or `address[city]`
 */
export function purposeOf(name: string, kind: "text" | "lines" | "date"): string | null {
  const [, member = name] = IN_ADDRESS.exec(name) ?? [];
  if (member.includes("[")) return null;
  const purpose = BY_NAME.get(member.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")) ?? null;
  if ((purpose === "bday") !== (kind === "date")) return null;
  // An input with lines has room for the whole address.
  return kind === "lines" && purpose === "address-line1" ? "street-address" : purpose;
}
