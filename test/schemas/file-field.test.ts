import { expect, test } from "vitest";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";

/** What is wrong with a schema that has this field; empty if nothing is. */
function problemsOf(field: object, at = (each: object): object => ({ f: each })): readonly string[] {
  try {
    parseDefinition(at({ type: "file", ...field }));
    return [];
  } catch (error) {
    if (!(error instanceof FormsvcError) || error.code !== "schema_invalid") throw error;
    const { problems } = error.facts.details as { problems: { path: string; message: string }[] };
    return problems.map(({ path, message }) => `${path} ${message}`);
  }
}

const NEVER = [
  "text/html",
  "application/xhtml+xml",
  "image/svg+xml",
  "text/xml",
  "application/xml",
  "text/javascript",
  "application/x-msdownload",
  "application/x-sh",
  "application/x-msi",
  "application/x-apple-diskimage",
  "application/java-archive",
  "application/vnd.ms-word.document.macroEnabled.12",
  "TEXT/HTML",
  ".html",
  ".xhtml",
  ".svg",
  ".xml",
  ".js",
  ".exe",
  ".sh",
  ".bat",
  ".ps1",
  ".msi",
  ".lnk",
  ".url",
  ".iso",
  ".dmg",
  ".docm",
  ".xlsm",
  ".pptm",
  ".jar",
  ".hta",
  ".EXE",
  " .svg ",
];

test.each(NEVER)("a schema whose field takes %s is refused, because such a file is never let in", (type) => {
  expect(problemsOf({ accept: ["application/pdf", type] })).toEqual([
    expect.stringContaining("which is never let in, because whoever opens such a file runs it"),
  ]);
});

test.each(["*/*", "*", "application/*"])("a schema whose field takes %s is refused", (type) => {
  expect(problemsOf({ accept: [type] })).toEqual([
    expect.stringContaining("takes anything, programs too; name the types that the form needs"),
  ]);
});

test("a type that nothing can be checked for is refused, with what to take", () => {
  for (const type of ["application/x-unknown", ".xyz", "font/*", "pdf", ""])
    expect([type, problemsOf({ accept: [type] })]).toEqual([
      type,
      [expect.stringContaining("is not a type that files can be checked for")],
    ]);
  for (const accept of [[], "application/pdf", [1]])
    expect(problemsOf({ accept })).toEqual([expect.stringContaining("f.accept must")]);
  expect(problemsOf({ accept: ["application/pdf", ".docx", "image/*", ".ZIP"] })).toEqual([]);
});

test("a file field stands at the top level only, and its numbers have bounds", () => {
  const inObject = (field: object): object => ({ f: { type: "object", properties: { g: field } } });
  const inList = (field: object): object => ({ f: { type: "array", items: field } });
  for (const place of [inObject, inList])
    expect(problemsOf({}, place)).toEqual([expect.stringContaining("top level")]);
  for (const wrong of [
    { maxBytes: 0 },
    { maxBytes: 1.5 },
    { maxBytes: "1" },
    { maxFiles: 0 },
    { maxFiles: 1e9 },
  ])
    expect(problemsOf(wrong)).toHaveLength(1);
});
