import { afterAll, beforeAll, expect, test } from "vitest";
import { LANGUAGES } from "../../src/languages/language.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import type { Answer } from "../support/http-client.ts";
import { launchServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let contact: TestEndpoint;
const schema = { name: { type: "string", required: true, maxLength: 5 }, age: { type: "number" } } as const;

beforeAll(async () => {
  server = await launchServer();
  contact = await server.addEndpoint({ schema });
});
afterAll(() => server.stop());

type Headers = Record<string, string>;

const submit = (body: unknown, headers: Headers = {}): Promise<Answer> =>
  server.post(contact.secret, body, headers);
const form = (fields: Record<string, string>, headers: Headers = {}): Promise<Answer> =>
  server.request({
    method: "POST",
    path: `/f/${contact.publishable}`,
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields).toString(),
  });

function firstProblem({ json }: Answer, field: string): string | undefined {
  const details = json["details"] as Record<string, { issues: { message: string }[] }>;
  return details[field]?.issues[0]?.message;
}

const json = { accept: "application/json" };
const german = {
  visitor: "Bitte sehen Sie sich einige Ihrer Angaben noch einmal an.",
  name: "Name fehlt noch",
};

test("what a visitor reads in an answer is in the language of _language, else of Accept-Language, else English", async () => {
  const answers = [
    await submit({ _language: "de" }),
    await submit({ _language: "de-AT" }, { "accept-language": "fr" }),
    await submit({}, { "accept-language": "de-CH,de;q=0.9,en;q=0.8" }),
    await submit('{"\\u005flanguage":"de"}'),
    await form({ _language: "de" }, json),
    await form({}, { ...json, "accept-language": "de" }),
  ];
  for (const answer of answers) {
    expect([answer.status, answer.json["visitor_message"]]).toEqual([400, german.visitor]);
    expect(firstProblem(answer, "name")).toBe(german.name);
    // What is for the developer stays in English.
    expect(answer.json["error"]).toBe("Validation failed");
    expect(answer.json["message"]).toMatch(/^The data does not match/);
  }
  const plain = await submit({});
  expect([plain.json["visitor_message"], firstProblem(plain, "name")]).toEqual([
    "Some of your answers need another look.",
    "Name is required",
  ]);
});

test("whoever writes a number in their own way reads in their language how a form takes it, and it is never guessed", async () => {
  for (const written of ["1.500,50", "1500,50", "1 500", "1'500"]) {
    const answer = await form({ name: "Ida", age: written, _language: "de" }, json);
    expect([answer.status, firstProblem(answer, "age")], written).toEqual([
      400,
      "Age: Erwartet wird eine Zahl in der Schreibweise 1234.5, nicht Text",
    ]);
  }
  for (const language of LANGUAGES) {
    const answer = await form({ name: "Ida", age: "many", _language: language }, json);
    expect(firstProblem(answer, "age"), language).toContain("1234.5");
  }
  const nameless = await form({ age: "1234.5", _language: "de" }, json);
  expect([firstProblem(nameless, "name"), firstProblem(nameless, "age")]).toEqual([german.name, undefined]);
  // JSON has no language of numbers, and a text is none.
  expect(firstProblem(await submit({ name: "Ida", age: "1234.5" }), "age")).toBe(
    "Age must be a number written like 1234.5, not text",
  );
});

test("a form that asks for JSON and sends a language, also an empty or unknown one, gets the thanks as the rules choose, others the JSON that they always got", async () => {
  const italian = wordingIn("it").text("thanksReceived");
  const told = await form({ name: "Ida", _language: "it" }, json);
  expect(told.json["visitor_message"]).toBe(italian);
  for (const unnamed of ["", "tlh"]) {
    const chosen = await form({ name: "Ida", _language: unnamed }, { ...json, "accept-language": "it" });
    expect(chosen.json["visitor_message"]).toBe(italian);
  }
  const plain = await form({ name: "Ida" }, { ...json, "accept-language": "it" });
  expect(Object.keys(plain.json)).toEqual(["success", "message", "submission_id"]);
});

test("the endpoint's language comes after the post's and before the browser's", async () => {
  const french = await server.addEndpoint({ schema, settings: { language: "fr" } });
  const spoken = async (body: unknown, headers: Headers = {}) =>
    (await server.post(french.secret, body, headers)).json["visitor_message"];
  const german = { "accept-language": "de" };
  expect(await spoken({}, german)).toBe(wordingIn("fr").text("lookAgain"));
  expect(await spoken({ _language: "tlh" }, german)).toBe(wordingIn("fr").text("lookAgain"));
  expect(await spoken({ _language: "it" }, german)).toBe(wordingIn("it").text("lookAgain"));
  const request = { method: "POST", path: `/f/${french.publishable}`, body: "name=Ida" };
  const page = await server.request({
    ...request,
    headers: { "content-type": "application/x-www-form-urlencoded", ...german },
  });
  expect(page.text).toContain(wordingIn("fr").text("received"));
  // Refused before the body, and before anybody asked whose key it is.
  const early = await server.request({ ...request, headers: { "content-type": "text/plain", ...german } });
  expect(early.text).toContain(wordingIn("fr").text("otherType"));
});

test("a language that does not exist, is too long or is no text is ignored, and never refused", async () => {
  const wrong = [
    "tlh",
    "deutsch",
    "de_DE",
    "",
    `de${"-abcdefgh".repeat(4)}`,
    "x".repeat(10_000),
    7,
    null,
    ["de"],
    { a: 1 },
  ];
  for (const tag of wrong) {
    const headers = { "accept-language": "fr" };
    expect((await submit({ name: "Ida", _language: tag }, headers)).status).toBe(200);
    const refused = await submit({ _language: tag }, headers);
    expect(refused.json["visitor_message"]).toBe(wordingIn("fr").text("lookAgain"));
  }
  expect(server.stored(contact.id).every((data) => JSON.stringify(data) === '{"name":"Ida"}')).toBe(true);
});

test("the page after a form, and the page of errors, are whole in the visitor's language", async () => {
  for (const language of LANGUAGES) {
    const wording = wordingIn(language);
    const direction = language === "ar" || language === "he" ? "rtl" : "ltr";
    const thanks = await form({ name: "Ida", _language: language }, { origin: "https://site.example" });
    expect(thanks.text).toContain(`<html lang="${language}" dir="${direction}">`);
    for (const key of ["thanks", "received"] as const) expect(thanks.text).toContain(wording.text(key));
    const refused = await form({ name: "Florentina", age: "old", _language: language });
    expect(refused.status).toBe(400);
    for (const key of ["headingInvalid", "lookAgain", "sendAgain"] as const)
      expect(refused.text).toContain(wording.text(key));
    const amount = wording.amount("characters", 5);
    expect(refused.text).toContain(wording.text("maximumLength", { field: "Name", amount }));
    // Sent again, it is answered in the same language.
    expect(refused.text).toContain(`<input type="hidden" name="_language" value="${language}">`);
    expect(Buffer.byteLength(refused.text)).toBeLessThan(30_000);
    expect(refused.text).not.toContain("<script");
  }
});

test("the page of a refusal before the body is read is in the first language of the browser", async () => {
  const headers = { "content-type": "text/plain", "accept-language": "es-MX,es;q=0.9" };
  const { text } = await form({}, headers);
  expect(text).toContain(wordingIn("es").text("otherType"));
});

test("the page at the server's bare address is in the language of the browser", async () => {
  const off = await launchServer({ dashboard: { enabled: false } });
  const headers = { accept: "text/html", "accept-language": "ar" };
  const { text } = await off.request({ method: "GET", path: "/", headers });
  await off.stop();
  expect(text).toContain('<html lang="ar" dir="rtl">');
  expect(text).toContain(wordingIn("ar").text("frontHeading"));
});

test("problems in long languages take no more room than in English", async () => {
  const fields = Object.fromEntries(
    Array.from({ length: 190 }, (_, index) => [`f${index}`, { type: "array", items: { type: "number" } }]),
  );
  const wide = await server.addEndpoint({ schema: fields as never });
  const body = Object.fromEntries(
    Object.keys(fields).map((name) => [name, Array.from({ length: 60 }, () => "x")]),
  );
  const sizes = await Promise.all(
    ["en", "el", "ar"].map(async (language) => {
      const { text } = await server.post(wide.secret, { ...body, _language: language });
      return Buffer.byteLength(text);
    }),
  );
  // The bound on what is told, and the first problem of each field after it.
  for (const size of sizes) expect(size).toBeLessThan(32_768 * 2.5);
});
