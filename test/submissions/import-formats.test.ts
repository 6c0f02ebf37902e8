import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FORMATS, TABLE_FORMATS } from "../../src/submissions/import/import-formats.ts";

const PAGE = readFileSync(new URL("../../docs/migrating.md", import.meta.url), "utf8");

/** What the page calls a service. */
const SERVICES = {
  formspree: "Formspree",
  netlify: "Netlify",
  basin: "Basin",
  google: "Google Forms",
} as const;
/** Names of columns that are fields like others. */
const FIELDS: ReadonlySet<string> = new Set(["_replyto"]);

/** The names of columns in a service's row of the table "What columns are called", in lower case. */
function namesOnPage(service: string): string[] {
  const [, table = ""] = PAGE.split("## What columns are called");
  const row = table.split("\n").find((line) => line.startsWith(`| ${service} |`)) ?? "";
  const [, , certain = "", , others = ""] = row.split("|");
  return [...`${certain} ${others}`.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name.toLowerCase());
}

test.each(Object.entries(SERVICES))(
  "the page on migrating names each column of %s that has a meaning, and no other",
  (format, service) => {
    const { roles, fieldsIn } = FORMATS[format as keyof typeof SERVICES];
    const known = [...Object.keys(roles), ...(fieldsIn === null ? [] : [fieldsIn])];
    const told = namesOnPage(service).filter((name) => !FIELDS.has(name));
    expect(told.toSorted()).toEqual(known.toSorted());
  },
);

test("each format of a table is a service of the page, or any table", () => {
  expect(TABLE_FORMATS.filter((format) => format !== "csv")).toEqual(Object.keys(SERVICES));
});
