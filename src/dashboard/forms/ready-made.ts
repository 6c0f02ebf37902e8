import { html, type Html } from "../../foundation/html.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";

/** A form to start from. */
export interface ReadyMade {
  /** In the address of the page that makes a form. */
  readonly id: string;
  readonly name: string;
  readonly about: string;
  readonly definition: SchemaDefinition;
}

const PERSON = {
  name: { type: "string", label: "Your name", required: true, maxLength: 100 },
  email: { type: "string", label: "E-mail", required: true, format: "email" },
} as const satisfies SchemaDefinition;

const PHONE = { type: "string", label: "Phone", format: "phone" } as const;
const CONSENT = { type: "boolean", required: true, enum: [true] } as const;

export const READY_MADE: readonly ReadyMade[] = [
  {
    id: "contact",
    name: "Contact",
    about: "3 fields",
    definition: {
      ...PERSON,
      message: { type: "string", label: "Message", maxLength: 5000 },
    },
  },
  {
    id: "order",
    name: "Order",
    about: "6 fields",
    definition: {
      ...PERSON,
      phone: PHONE,
      item: {
        type: "string",
        label: "What you would like",
        required: true,
        enum: ["First", "Second", "Third"],
      },
      day: { type: "string", label: "Day of collection", required: true, format: "date" },
      wishes: { type: "string", label: "Wishes", maxLength: 1000 },
    },
  },
  {
    id: "booking",
    name: "Booking",
    about: "6 fields",
    definition: {
      ...PERSON,
      phone: PHONE,
      day: { type: "string", label: "Day", required: true, format: "date" },
      people: { type: "number", label: "How many people", required: true, minimum: 1, maximum: 60 },
      message: { type: "string", label: "Message", maxLength: 1000 },
    },
  },
  {
    id: "job",
    name: "Job application",
    about: "with a file",
    definition: {
      ...PERSON,
      phone: PHONE,
      cv: { type: "file", label: "Your CV", required: true, accept: ["application/pdf", ".docx"] },
      letter: { type: "string", label: "Why you would like to work here", maxLength: 5000 },
      consent: { ...CONSENT, label: "You may keep my application for six months" },
    },
  },
  {
    id: "newsletter",
    name: "Newsletter",
    about: "with consent",
    definition: {
      email: PERSON.email,
      consent: { ...CONSENT, label: "Yes, send me your newsletter" },
    },
  },
  { id: "nothing", name: "Nothing", about: "an empty form", definition: {} },
];

const [FIRST] = READY_MADE;

/** The one that an address names; the first one if it names none. */
export function readyMade(id: string | null): ReadyMade {
  const found = READY_MADE.find((each) => each.id === id) ?? FIRST;
  if (found === undefined) throw new Error("there is no ready-made form");
  return found;
}

/** Links to a page with each of them. @param chosen null if what was chosen may have been changed */
export function startLinks(linkTo: (id: string) => string, chosen: string | null): Html {
  return html`<h2 id="start">Start from</h2>
    <div class="starts" role="group" aria-labelledby="start">
      ${READY_MADE.map(
        ({ id, name, about }) =>
          html`<a href="${linkTo(id)}" ${id === chosen && html` aria-current="true"`}
            ><b>${name}</b><small>${about}</small></a
          >`,
      )}
    </div>`;
}
