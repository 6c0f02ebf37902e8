import { expect, test } from "vitest";
import { listFiles, readText } from "./repository.ts";

/** Files whose words are read by visitors, and not by developers, owners or operators. */
const SPOKEN = [
  "src/http/form-fields.ts",
  "src/http/form-page.ts",
  "src/http/form-routes.ts",
  "src/http/front-page.ts",
  "src/http/mail-link-routes.ts",
  "src/http/visitor-page.ts",
  "src/http/visitor-words.ts",
  "src/mail/ask-holder.ts",
  "src/mail/auto-reply/compose-auto-reply.ts",
  "src/mail/compose-notification.ts",
  "src/mail/compose-summary.ts",
  "src/mail/mailed-event.ts",
  "src/schemas/issue.ts",
];

/** What is no sentence for visitors, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  "Send the form as ": "an error's message for developers",
  "question to": "the name of a limit in the database",
  "questions of": "the name of a limit in the database",
  "This server sends no e-mail at present.": "an error's message, in whose place its page has a text",
};

const COMMENTS = /\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const STYLE = /const STYLE = `[^`]*`;/g;

/** Literal texts of a source with two words or more, and the text between tags; not what stands in holes, tags and style sheets. */
function sentencesIn(source: string): string[] {
  const code = source.replace(COMMENTS, "").replace(STYLE, "");
  const literals = [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)];
  return literals
    .flatMap(([, plain, template]) =>
      plain === undefined
        ? (template ?? "").replace(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, "\0").split(/<[^<>]*>|\0/)
        : [plain],
    )
    .filter((text) => /[A-Za-z]{2,},? [A-Za-z]{2,}/.test(text) && !/[:;=<>{}]|'none'/.test(text));
}

test("a literal sentence is found in text, in a template and between tags", () => {
  const found = sentencesIn(
    'f("Thank you"); html`<p class="a b">Send ${x("y z")} it again</p>`; // not this one',
  );
  expect(found).toEqual(["Thank you", " it again"]);
});

test("no sentence that visitors read is written outside of the languages", () => {
  const left = SPOKEN.flatMap((path) =>
    sentencesIn(readText(path).text)
      .filter((text) => ALLOWED[text] === undefined)
      .map((text) => `${path}: ${text}`),
  );
  expect(left).toEqual([]);
});

test("each file with pages or words for visitors is among those", () => {
  const named = listFiles().filter((path) =>
    /^src\/http\/(?:form-page|front-page|visitor-).*\.ts$/.test(path),
  );
  const spoken = new Set([...SPOKEN, "src/http/visitor-language.ts"]);
  expect(named.filter((path) => !spoken.has(path))).toEqual([]);
});
