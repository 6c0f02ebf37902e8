import { html, type Html } from "../../foundation/html.ts";
import type { Language } from "../../languages/language.ts";
import { type TextKey, wordingIn } from "../../languages/wording.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FieldDefinition } from "../../schemas/field-definition.ts";
import { readLines } from "../kit/typed-text.ts";
import type { FieldRow } from "./schema-words.ts";

/** Returns a text in one language. */
type Say = (key: TextKey) => string;

/** A form to start from. */
export interface ReadyMade {
  /** The id in the address of the page that makes a form. */
  readonly id: string;
  readonly name: string;
  readonly about: string;
  /** Makes the fields. Their names are the same in each language. */
  readonly fields: (say: Say) => SchemaDefinition;
}

const PHONE = { type: "string", format: "phone" } as const;
const DAY = { type: "string", required: true, format: "date" } as const;
const CONSENT = { type: "boolean", required: true, enum: [true] } as const;

const email = (say: Say) =>
  ({ type: "string", label: say("madeEmail"), required: true, format: "email" }) as const;

const person = (say: Say) =>
  ({
    name: { type: "string", label: say("madeName"), required: true, maxLength: 100 },
    email: email(say),
  }) as const;

export const READY_MADE: readonly ReadyMade[] = [
  {
    id: "contact",
    name: "Contact",
    about: "3 fields",
    fields: (say) => ({
      ...person(say),
      message: { type: "string", label: say("madeMessage"), maxLength: 5000 },
    }),
  },
  {
    id: "order",
    name: "Order",
    about: "6 fields",
    fields: (say) => ({
      ...person(say),
      phone: { ...PHONE, label: say("madePhone") },
      item: {
        type: "string",
        label: say("madeItem"),
        required: true,
        enum: [say("madeFirst"), say("madeSecond"), say("madeThird")],
      },
      day: { ...DAY, label: say("madeCollection") },
      wishes: { type: "string", label: say("madeWishes"), maxLength: 1000 },
    }),
  },
  {
    id: "booking",
    name: "Booking",
    about: "6 fields",
    fields: (say) => ({
      ...person(say),
      phone: { ...PHONE, label: say("madePhone") },
      day: { ...DAY, label: say("madeDay") },
      people: { type: "number", label: say("madePeople"), required: true, minimum: 1, maximum: 60 },
      message: { type: "string", label: say("madeMessage"), maxLength: 1000 },
    }),
  },
  {
    id: "job",
    name: "Job application",
    about: "with a file",
    fields: (say) => ({
      ...person(say),
      phone: { ...PHONE, label: say("madePhone") },
      cv: { type: "file", label: say("madeCv"), required: true, accept: ["application/pdf", ".docx"] },
      letter: { type: "string", label: say("madeReason"), maxLength: 5000 },
      consent: { ...CONSENT, label: say("madeKeep") },
    }),
  },
  {
    id: "newsletter",
    name: "Newsletter",
    about: "with consent",
    fields: (say) => ({ email: email(say), consent: { ...CONSENT, label: say("madeNews") } }),
  },
  { id: "nothing", name: "Nothing", about: "an empty form", fields: () => ({}) },
];

const [FIRST] = READY_MADE;

export function findReadyMade(id: string | null): ReadyMade | null {
  return READY_MADE.find((each) => each.id === id) ?? null;
}

/** The ready-made form with an id; the first one if there is none with it. */
export function readyMade(id: string | null): ReadyMade {
  const found = findReadyMade(id) ?? FIRST;
  if (found === undefined) throw new Error("there is no ready-made form");
  return found;
}

export function fieldsIn({ fields }: ReadyMade, language: Language): SchemaDefinition {
  const wording = wordingIn(language);
  return fields((key) => wording.text(key));
}

/** Translates the labels and choices of ready-made forms. Words that somebody typed stay as they are. */
export function translateRows(rows: readonly FieldRow[], from: Language, to: Language): readonly FieldRow[] {
  if (from === to) return rows;
  const after = wordsIn(to);
  const words = new Map(wordsIn(from).map((word, index) => [word, after[index] ?? word]));
  const translate = (word: string): string => words.get(word) ?? word;
  return rows.map((row) => ({
    ...row,
    ...(row.label !== undefined && { label: translate(row.label) }),
    ...(row.enum !== undefined && { enum: readLines(row.enum).map(translate).join("\n") }),
  }));
}

/** All words of the ready-made forms, in the same order for each language. */
function wordsIn(language: Language): string[] {
  return READY_MADE.flatMap((made) => Object.values(fieldsIn(made, language)).flatMap(wordsOf));
}

function wordsOf(field: FieldDefinition): string[] {
  const choices = "enum" in field ? (field.enum ?? []) : [];
  return [field.label ?? "", ...choices.filter((choice) => typeof choice === "string")];
}

/** Links to the page with each ready-made form. @param chosen the one that the shown form began from, or null */
export function startLinks(linkTo: (id: string) => string, chosen: ReadyMade | null): Html {
  return html`<h2 id="start">Start from</h2>
    <div class="starts" role="group" aria-labelledby="start" data-starts>
      ${READY_MADE.map(
        ({ id, name, about }) =>
          html`<a href="${linkTo(id)}" ${id === chosen?.id && html` aria-current="true"`}
            ><b>${name}</b><small>${about}</small></a
          >`,
      )}
    </div>`;
}
