import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachine } from "../support/operator-machine.ts";

const machine = makeMachine();
const LOGO = "https://bakery.example/logo.png";

beforeAll(async () => {
  machine.configure({});
  await machine.createEndpoint({});
});
afterAll(() => machine.remove());

const set = (...flags: string[]) =>
  machine.json<{ endpoint: object }>(["endpoint", "set", "Contact", ...flags]);

async function shown(): Promise<Record<string, unknown>> {
  const { endpoint } = await machine.json<{ endpoint: Record<string, unknown> }>([
    "endpoint",
    "show",
    "Contact",
  ]);
  return Object.fromEntries(Object.entries(endpoint).filter(([name]) => name.startsWith("page")));
}

const NOTHING = {
  page: "off",
  page_title: null,
  page_intro: null,
  page_colour: null,
  page_logo: null,
  page_thanks: null,
};

const EVERYTHING = {
  page: "on",
  page_title: "Order a cake",
  page_intro: "Three days before.\n\nBy e-mail.",
  page_colour: "#0b6e5f",
  page_logo: LOGO,
  page_thanks: "See you at the bakery.",
};

test("a form's own page is told as JSON, each part stays until it is named, and an empty one takes it away", async () => {
  expect(await shown()).toEqual(NOTHING);
  const texts = ["--page-title", "Order a cake", "--page-intro", EVERYTHING.page_intro];
  const look = ["--page-colour", "#0B6E5F", "--page-logo", LOGO];
  const thanks = ["--page-thanks", "See you at the bakery."];
  const site = ["--allow-origin", "https://bakery.example"];
  expect(await set("--page", "on", ...texts, ...look, ...thanks, ...site)).toMatchObject({
    endpoint: EVERYTHING,
  });
  expect(await shown()).toEqual(EVERYTHING);
  await set("--page", "off");
  expect(await shown()).toEqual({ ...EVERYTHING, page: "off" });
  for (const part of ["title", "intro", "colour", "logo", "thanks"]) {
    await set(`--page-${part}`, "");
    expect(await shown(), part).toMatchObject({ page: "off", [`page_${part}`]: null });
  }
  expect(await shown()).toEqual(NOTHING);
});

test.each([
  ["--page", "yes", /on.*off/],
  ["--page-colour", "red", /"red"/],
  ["--page-colour", "#0b6e5f;}*{display:none", /colour/],
  ["--page-logo", "https://tracker.example/logo.png", /https:\/\/tracker\.example is none of them/],
  ["--page-logo", "http://bakery.example/logo.png", /not an https address/],
  ["--page-logo", "data:image/png;base64,AAAA", /not an https address/],
  ["--page-logo", "https://ada:secret@bakery.example/", /not an https address/],
  ["--page-title", "x".repeat(101), /title is longer than 100 characters/],
  ["--page-title", "two\nlines", /title has a control character/],
  ["--page-intro", "x".repeat(2001), /introduction is longer than 2000 characters/],
  ["--page-thanks", "bell \u0007", /thank-you text has a control character/],
])(
  "%s %j is refused with exit code 2 and what is wrong, and nothing of the command holds",
  async (flag, value, said) => {
    await set("--allow-origin", "https://bakery.example", "--page", "off", "--page-title", "Before");
    const rest = ["--keep-days", "9", ...(flag === "--page-title" ? [] : ["--page-title", "After"])];
    const refused = await machine.run(["endpoint", "set", "Contact", flag, value, ...rest]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(said);
    expect(await shown()).toEqual({ ...NOTHING, page_title: "Before" });
  },
);

const fileOf = (page: object) =>
  JSON.stringify({
    version: 1,
    workspaces: [
      {
        name: "Bakery",
        endpoints: [
          {
            name: "Cakes",
            schema: { name: { type: "string" } },
            allowed_origins: ["https://bakery.example"],
            ...page,
          },
        ],
      },
    ],
  });

test("apply gives a form its page, takes away what the file has as null, and keeps what it does not name", async () => {
  const cakes = async () => {
    const { endpoint } = await machine.json<{ endpoint: object }>(["endpoint", "show", "Bakery/Cakes"]);
    return endpoint;
  };
  const apply = async (page: object) => {
    machine.write("forms.json", fileOf(page));
    return machine.mustRun(["apply", "forms.json", "--json"]);
  };
  await apply(EVERYTHING);
  expect(await cakes()).toMatchObject(EVERYTHING);
  await apply({ page_title: null, page_intro: "" });
  expect(await cakes()).toMatchObject({ ...EVERYTHING, page_title: null, page_intro: null });
  const again = await machine.mustRun(["apply", "forms.json"]);
  expect(again.stderr).toContain("nothing to change");
});

test.each([
  [{ page: "perhaps" }, /endpoints\.0\.page: /],
  [{ page_colour: "red" }, /endpoints\.0\.page_colour: not a colour: .{1,2}red/],
  [
    { page_logo: "https://tracker.example/l.png" },
    /endpoints\.0\.page_logo: .*tracker\.example is none of them/,
  ],
  [{ page_title: "x".repeat(101) }, /endpoints\.0\.page_title: .*longer than 100/],
  [{ page_thanks: 7 }, /endpoints\.0\.page_thanks: /],
])("a file with %j is refused with its place, and makes no form", async (page, said) => {
  const before = await machine.json(["endpoint", "list"]);
  machine.write("wrong.json", fileOf(page).replace('"Cakes"', '"Pies"'));
  for (const dry of [["--dry-run"], ["--json"]]) {
    const refused = await machine.run(["apply", "wrong.json", ...dry]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(said);
  }
  expect(await machine.json(["endpoint", "list"])).toEqual(before);
});
