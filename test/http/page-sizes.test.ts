import { expect, test } from "vitest";
import { NO_PAGE } from "../../src/endpoints/own-page.ts";
import type { Brand } from "../../src/foundation/brand.ts";
import { type Language, LANGUAGES } from "../../src/languages/language.ts";
import { startConfirmation } from "../../src/mail/recipients/agree-to-mail.ts";
import { unsubscribeUrl } from "../../src/mail/recipients/mail-links.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import type { FieldDefinition } from "../../src/schemas/field-definition.ts";
import { updateSettingsRow } from "../../src/workspaces/workspace-settings.ts";
import { getWorkspace } from "../../src/workspaces/workspace-store.ts";
import type { Answer } from "../support/http-client.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { BASE_URL, startMailedSite } from "../support/mailed-site.ts";
import type { TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

/*
 * What a page for visitors weighs, in each language, with the longest name and footer of a workspace. A form's own fields are the
 * owner's: the bound is for a form of 40, and a field more costs as much as its markup, its label and its problem.
 */

const MOST_BYTES = 30_000;
const FIELDS = 40;
const LABEL = "How many people will come to the party";

const BRAND: Brand = { colour: "#7a3b12", name: "B".repeat(200), footer: "F".repeat(1000) };

/** Each kind of field in turn. */
const KINDS: readonly FieldDefinition[] = [
  { type: "string", required: true, minLength: 5, maxLength: 80, label: LABEL },
  { type: "string", required: true, format: "email", label: LABEL },
  { type: "number", required: true, minimum: 5, label: LABEL },
  { type: "string", required: true, enum: ["Schokolade", "Zitrone", "Zwetschge"], label: LABEL },
  { type: "string", required: true, format: "date", label: LABEL },
  { type: "boolean", required: true, enum: [true], label: LABEL },
  { type: "string", required: true, minLength: 5, maxLength: 5000, label: LABEL },
  { type: "string", required: true, format: "phone", label: LABEL },
];

function schemaOf(count: number): Record<string, FieldDefinition> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`field_${index}`, KINDS[index % KINDS.length]!]),
  );
}

/** What was sent is wrong in every field. */
const WRONG = Array.from({ length: FIELDS }, (_, index) => `field_${index}=x`).join("&");

async function addForm(server: TestServer, fields: number) {
  const texts = { intro: "i".repeat(2000), thanks: "t".repeat(2000) };
  const page = { ...NO_PAGE, isOn: true, colour: "#8a1c4a", ...texts };
  const endpoint = await server.addEndpoint({ schema: schemaOf(fields), settings: { page } });
  server.owner.now(function* () {
    yield* updateSettingsRow(yield* getWorkspace(endpoint.workspaceId), { timeZone: null, brand: BRAND });
  });
  return endpoint;
}

type Ask = (language: Language) => Promise<Answer>;

/** Every page that people see who never chose this service, by what it is. */
async function pagesOf(server: TestServer): Promise<Record<string, Ask>> {
  const [many, none] = [await addForm(server, FIELDS), await addForm(server, 0)];
  const get = (path: string, accept = "text/html") => {
    return (language: Language) =>
      server.request({ method: "GET", path, headers: { accept, "accept-language": language } });
  };
  const post = (path: string, body: string, type = "application/x-www-form-urlencoded") => {
    const headers = { "content-type": type, origin: BASE_URL };
    return (language: Language) =>
      server.request({ method: "POST", path, headers: { ...headers, "accept-language": language }, body });
  };
  const recipientOf = (endpointId: string, isConfirmed: boolean) => {
    const settings = { ...defaultMailRecipientSettings, address: `${"a".repeat(60)}@example.org` };
    const made = { endpointId, settings, isConfirmed };
    return server.owner.now(() => addMailRecipient(made, server.clock.now()));
  };
  const stop = unsubscribeUrl(BASE_URL, recipientOf(many.id, true)).slice(BASE_URL.length);
  const asked = recipientOf(none.id, false);
  const token = server.owner.now(() => startConfirmation(asked.id, server.clock.now()));
  const [own, form] = [`/p/${many.id}`, `/f/${many.publishable}`];
  await until(async () => (await get(own)("en")).text.includes('class="maker"'));
  return {
    "own page": get(own),
    "own page after a mistake": post(own, WRONG),
    "own page's thanks": post(`/p/${none.id}`, ""),
    "page of a mistake": post(form, WRONG),
    "page of thanks": post(`/f/${none.publishable}`, ""),
    "page of a refusal": post(form, WRONG, "text/plain"),
    "page of a key that is none": post("/f/fpk_none", WRONG),
    "question for an agreement": get(`/mail/confirm/${asked.id}/${token}`),
    "question before e-mails end": get(stop),
    "page of e-mails that ended": post(stop, ""),
    "page of a dead link": get(`${stop}x`),
    "bare address": get("/"),
  };
}

test("each page for visitors is smaller than 30 KB in each of 21 languages, without script, also with 40 fields that are all wrong", async () => {
  const { server } = await startMailedSite({ dashboard: { enabled: false } });
  const pages = Object.entries(await pagesOf(server));
  expect(LANGUAGES).toHaveLength(21);
  for (const language of LANGUAGES) {
    for (const [what, ask] of pages) {
      const { text } = await ask(language);
      const page = `${what} in ${language}`;
      expect(text, page).toContain("<!doctype html>");
      expect(text, page).not.toContain("<script");
      expect(Buffer.byteLength(text), page).toBeLessThan(MOST_BYTES);
    }
  }
});

test("the page of the largest schema, with thousands of options, is as large as its options are, and no larger for a wrong post", async () => {
  const { server } = await startMailedSite({ dashboard: { enabled: false } });
  const options = Array.from({ length: 9000 }, (_, index) => index.toString(36).padStart(3, "0"));
  const size = 50;
  const schema = Object.fromEntries(
    Array.from({ length: options.length / size }, (_, index) => {
      const mine = options.slice(index * size, (index + 1) * size);
      return [`f${index}`, { type: "string", required: true, enum: mine }];
    }),
  ) as Record<string, FieldDefinition>;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  expect(bytes).toBeLessThan(65_536);
  expect(bytes).toBeGreaterThan(60_000);
  const page = { ...NO_PAGE, isOn: true };
  const endpoint = await server.addEndpoint({ schema, settings: { page } });
  const path = `/p/${endpoint.id}`;
  const headers = { origin: BASE_URL, "content-type": "application/x-www-form-urlencoded" };
  const blank = await server.request({ method: "GET", path });
  const wrong = await server.request({ method: "POST", path, headers, body: "f0=none" });
  expect([blank.status, wrong.status]).toEqual([200, 400]);
  for (const { text } of [blank, wrong]) {
    expect(text.match(/<option>/g)).toHaveLength(options.length);
    // An option of three letters takes six bytes of a schema and 20 of a page.
    expect(Buffer.byteLength(text)).toBeLessThan(5 * bytes);
  }
});
