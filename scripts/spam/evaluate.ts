import { POINTS } from "../../src/spam/points.ts";
import { boundChecks, boundsOf, likePosts } from "./bounds.ts";
import {
  type Case,
  scoreLeftOut,
  kindsLeftOut,
  leaveSourcesOut,
  measureCase,
  type MeasureRow,
  onePerCluster,
  readMeasure,
  scoreWithout,
  shortCases,
  sourcesLeftOut,
  unseenCases,
} from "./cases.ts";
import { type Check, checksOf, checkTable, holds } from "./checks.ts";
import { memoryOfSites, memoryOfSources, memoryOfTheGenuine } from "./memory-table.ts";
import { BLOCKED_FROM, HIGH_FROM, MEDIUM_FROM, shareFrom, shareWithInterval } from "./shares.ts";
import { bySender, bySlice } from "./slices.ts";
import { ownTexts, readOwnTexts, readTrainingData, shortTexts, unseenTexts } from "./texts.ts";

/**
 * Prints how well the filter scores texts that its model has not seen, each left out in turn, and the data that only measure. Then it
 * checks the figures that no change may make worse, and exits with 1 if one is worse.
 * Usage: node scripts/spam/evaluate.ts DATA_DIR
 */
const [, , directory] = process.argv;
if (directory === undefined) throw new Error("usage: node scripts/spam/evaluate.ts DATA_DIR");

const own = readOwnTexts(ownTexts);
const others = readTrainingData(directory);
const measure = readMeasure(directory);

const kinds = kindsLeftOut(own, others);
heading("A fifth of the kinds left out at a time");
shareTable(kinds);
heading("The same by script");
shareTable(
  kinds
    .map((each) => ({ ...each, group: each.script }))
    .toSorted((a, b) => a.group.localeCompare(b.group) || b.label.localeCompare(a.label)),
);
heading("All own texts left out");
shareTable(scoreLeftOut(own, others));
heading("Each source left out in turn");
const leftOut = leaveSourcesOut(own, others);
const sources = sourcesLeftOut(leftOut);
shareTable(sources);

heading("Texts of writers who had seen neither the filter nor the other texts");
const unseen = unseenCases(readOwnTexts(unseenTexts));
shareTable(unseen);
heading("Short genuine sentences of other people");
const short = shortCases(readOwnTexts(shortTexts));
shareTable(short);

const forms = measure.filter(isContactForm);
const oneOfEach = onePerCluster(forms);
const campaigns = oneOfEach.map((row) => measureCase(row));
const genuineRows = measure.filter(({ label }) => label === "ham");
const genuine = genuineRows.map((row) => measureCase(row));
heading("measure: contact forms, content only");
shareTable([
  ...oneOfEach.map((row) => measureCase(row, "all sites, one of each campaign")),
  ...forms.map((row) => measureCase(row, "all sites, every message")),
  ...oneOfEach.map((row) => measureCase(row, "one of each campaign, with name and address", true)),
  ...campaigns,
]);
heading("measure: everything else");
const elsewhere = measure.filter((row) => !isContactForm(row)).map((row) => measureCase(row));
shareTable(elsewhere);
heading("measure by slice: contact forms, one of each campaign, and all genuine posts");
shareTable(bySlice([...campaigns, ...genuine]));
heading("measure by the sender's name: contact forms, one of each campaign");
shareTable(bySender(oneOfEach.map((row) => measureCase(row, null, true))));
heading("What each rule is worth");
ruleTable();
heading("Memory: the sources left out of training, replayed in order, every text from another sender");
const ofSources = memoryOfSources(leftOut);
print(ofSources.table);
heading("Memory: the sites of measure replayed in order");
print(memoryOfSites(forms, genuineRows));

heading("Checks");
const everyForm = forms.map((row) => measureCase(row));
const checks: readonly Check[] = [
  ...boundChecks(boundsOf(likePosts(genuine, short))),
  ...checksOf({ sources, unseen, measure: [...everyForm, ...elsewhere] }),
  {
    what: "genuine texts of the left-out sources, without mail, that score higher with memory",
    value: ofSources.genuineRaised,
    bound: { atMost: 2 },
    unit: "texts",
  },
  {
    what: `genuine texts of measure that score higher with memory, of ${genuineRows.length}`,
    value: memoryOfTheGenuine(genuineRows),
    bound: { atMost: 0 },
    unit: "texts",
  },
];
print(checkTable(checks));
if (!checks.every(holds)) process.exitCode = 1;

function isContactForm({ site }: MeasureRow): boolean {
  return site !== undefined;
}

function heading(text: string): void {
  print(`\n## ${text}\n`);
}

function shareTable(cases: readonly Case[]): void {
  print("| what | label | texts | >= 26 | >= 51 | >= 76 |\n|---|---|---|---|---|---|");
  const groups = Map.groupBy(cases, ({ group, label }) => `${group} | ${label}`);
  for (const [name, members] of groups) {
    const shares = [MEDIUM_FROM, HIGH_FROM, BLOCKED_FROM].map((score) => shareWithInterval(members, score));
    print(`| ${name} | ${members.length} | ${shares.join(" | ")} |`);
  }
}

/**
 * Prints how many percentage points each signal adds: among spam of the kinds left out, among campaigns of `measure`, and among genuine
 * posts.
 */
function ruleTable(): void {
  print("| signal | kinds left out >= 51 / >= 76 | measure's campaigns >= 51 / >= 76 | genuine >= 51 |");
  print("|---|---|---|---|");
  const spam = kinds.filter(({ label }) => label === "spam");
  const ham = [...kinds.filter(({ label }) => label === "ham"), ...genuine];
  for (const signal of ["text", ...Object.keys(POINTS)]) {
    const found = [...spam, ...campaigns, ...ham].some(({ evidence }) => hasSignal(evidence, signal));
    if (!found) continue;
    print(
      `| \`${signal}\` | ${worth(spam, signal)} | ${worth(campaigns, signal)} | ${worth(ham, signal, true)} |`,
    );
  }
}

function hasSignal({ owner: _owner, ...evidence }: Case["evidence"], signal: string): boolean {
  return Object.values(evidence).some((reasons) => reasons.some((reason) => reason.signal === signal));
}

function worth(cases: readonly Case[], signal: string, onlyHigh = false): string {
  const without = cases.map((each) => ({ ...each, score: scoreWithout(each, signal) }));
  const gain = (score: number): string => {
    const points = (shareFrom(cases, score) - shareFrom(without, score)) * 100;
    return `${points > 0 ? "+" : ""}${points.toFixed(2)}`;
  };
  return onlyHigh ? gain(HIGH_FROM) : `${gain(HIGH_FROM)} / ${gain(BLOCKED_FROM)}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
