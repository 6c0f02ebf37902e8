import type { SchemaDefinition } from "../../src/schemas/definition.ts";

/** A post to one of the forms of an invented joiner's workshop. Every name, address and text here is invented. */
export interface InventedPost {
  readonly form: "Contact" | "Shop" | "Courses";
  /** The time of the post, in hours before the pictures are taken. */
  readonly hoursAgo: number;
  readonly data: Readonly<Record<string, unknown>>;
}

const person = {
  name: { type: "string", required: true, maxLength: 100 },
  email: { type: "string", format: "email", required: true },
} as const;

export const FORMS: Readonly<Record<InventedPost["form"], SchemaDefinition>> = {
  Contact: { ...person, message: { type: "string", required: true, maxLength: 5000 } },
  Shop: {
    ...person,
    quantity: { type: "number", minimum: 1, maximum: 500 },
    delivery: { type: "string", enum: ["collect", "deliver"] },
    message: { type: "string", required: true },
  },
  Courses: {
    ...person,
    course: { type: "string", enum: ["Spoons", "Stools", "Dovetails"], required: true },
    message: { type: "string" },
  },
};

const NEWEST: readonly InventedPost[] = [
  {
    form: "Contact",
    hoursAgo: 0.03,
    data: {
      name: "Ada Lindqvist",
      email: "ada.lindqvist@example.org",
      message:
        "Good morning, we would like to visit the workshop with twelve people next week. Could you tell us which morning suits you?",
    },
  },
  {
    form: "Shop",
    hoursAgo: 0.3,
    data: {
      name: "Tomás Řehoř",
      email: "tomas@example.cz",
      quantity: 1,
      delivery: "collect",
      message: "Is the oak table on page 14 still available? I would collect it on Saturday with my brother.",
    },
  },
  {
    form: "Courses",
    hoursAgo: 0.7,
    data: {
      name: "Ελένη Παππά",
      email: "eleni@example.gr",
      course: "Spoons",
      message: "Καλημέρα, πότε αρχίζει το μάθημα; Θα ήθελα να γράψω την κόρη μου.",
    },
  },
  {
    form: "Contact",
    hoursAgo: 1.2,
    data: {
      name: "Marie Dubois",
      email: "marie.dubois@example.fr",
      message:
        "Le lien vers votre catalogue ne marche pas, pouvez-vous me l’envoyer par e-mail ? Merci d’avance.",
    },
  },
  {
    form: "Shop",
    hoursAgo: 3.1,
    data: {
      name: "Peter Novak",
      email: "peter@example.cz",
      quantity: 40,
      delivery: "deliver",
      message:
        "Quote for 40 chairs, delivery to Brno before the end of May. Our budget is around 2,400 euros.\n\nWe saw this one and would like the same in oak: http://www.example.com/chairs/c-14",
    },
  },
  {
    form: "Contact",
    hoursAgo: 5.4,
    data: {
      name: "Growth Team",
      email: "hello@rank-higher.example",
      message:
        "We noticed that your website could rank higher on Google. Free SEO audit, no obligation, just reply to this message.",
    },
  },
  {
    form: "Shop",
    hoursAgo: 20,
    data: {
      name: "Anna Berg",
      email: "anna@example.se",
      quantity: 2,
      delivery: "deliver",
      message: "My order 20418 is missing two boxes.",
    },
  },
  {
    form: "Courses",
    hoursAgo: 22,
    data: {
      name: "مريم الخطيب",
      email: "maryam@example.org",
      course: "Dovetails",
      message: "هل توجد دورة في عطلة نهاية الأسبوع؟",
    },
  },
  {
    form: "Contact",
    hoursAgo: 27,
    data: {
      name: "David Okafor",
      email: "david.okafor@example.com",
      message:
        "I would like to apply for the open position as a joiner. My portfolio is at https://okafor.example.com/work",
    },
  },
  {
    form: "Courses",
    hoursAgo: 30,
    data: {
      name: "Sofia Lind",
      email: "sofia@example.se",
      course: "Stools",
      message: "Kan jag avboka kursen den 14 juni?",
    },
  },
  {
    form: "Contact",
    hoursAgo: 47,
    data: {
      name: "James Carter",
      email: "james@example.com",
      message:
        "Our band would like to play at your summer party. You can listen to us before the next rehearsal.",
    },
  },
  {
    form: "Shop",
    hoursAgo: 52,
    data: {
      name: "Ines Costa",
      email: "ines@example.pt",
      quantity: 3,
      delivery: "collect",
      message: "A mesa redonda existe em nogueira?",
    },
  },
];

/** The posts that the filter holds. */
const SPAM: readonly InventedPost[] = [
  {
    form: "Contact",
    hoursAgo: 2.2,
    data: {
      name: "Sam",
      email: "sam@offers.example",
      message:
        "I came across your website. We offer SEO and backlinks with guaranteed first page of Google rankings and a free audit: https://bit.ly/abc",
    },
  },
  {
    form: "Contact",
    hoursAgo: 31,
    data: {
      name: "Loan Desk",
      email: "desk@quick-loans.example",
      message:
        "Instant business loan approved without credit check!!! Apply now: http://quick-loans.example/apply http://bit.ly/xyz",
      _gotcha: "https://quick-loans.example",
    },
  },
  {
    form: "Shop",
    hoursAgo: 75,
    data: {
      name: "Crypto Signals",
      email: "signals@coins.example",
      message:
        "Earn 5000 USD a day with bitcoin trading signals, guaranteed profit, join our channel: http://t.me/x",
      _gotcha: "yes",
    },
  },
];

const OLDER = [
  "Do you sharpen planes while one waits?",
  "Thank you for the quick repair of our kitchen door.",
  "We need a shelf of 2.40 m by 1.90 m, painted white.",
  "Which glue do you use for the outdoor benches?",
  "Could you send me the invoice for March once more?",
  "The drawer of the desk does not close any more.",
  "Is there parking beside the workshop?",
  "We would like to order the same chairs as last year.",
];
const FRIENDS = [
  "Lena Vogel",
  "Oskar Nilsen",
  "Yuki Tanaka",
  "Paula Reis",
  "Jan de Vries",
  "Ewa Zając",
  "Noor Haddad",
  "Tim Brandt",
];

/** Makes the posts of the weeks before, several for each day. */
function older(): InventedPost[] {
  const forms = ["Contact", "Shop", "Contact", "Courses"] as const;
  return Array.from({ length: 90 }, (_none, index) => {
    const name = FRIENDS[(index * 5) % FRIENDS.length] ?? "";
    const form = forms[(index * 7) % forms.length] ?? "Contact";
    return {
      form,
      hoursAgo: 54 + index * 7.3 + (index % 5) * 2,
      data: {
        name,
        email: `${name.split(" ")[0]?.toLowerCase()}@example.org`,
        message: `${OLDER[(index * 3) % OLDER.length]} (${index + 1})`,
        ...(form === "Courses" && { course: "Stools" }),
      },
    };
  });
}

/** All posts, the oldest first. */
export const POSTS: readonly InventedPost[] = [...NEWEST, ...SPAM, ...older()].toSorted(
  (one, other) => other.hoursAgo - one.hoursAgo,
);
