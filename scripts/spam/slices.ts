import type { Case } from "./cases.ts";

/** The smallest number of words in each class of length. */
const LENGTHS = [100, 50, 20, 8, 0] as const;
/** The limit of words for a short post with a link. Half of the posts that robots send to forms are such posts. */
const FEW_WORDS = 20;
const SHORT_LINK = `link, under ${FEW_WORDS} words`;

/** Lists each case once for each of its slices, with the slice as its group, in the order of a table. */
export function bySlice(cases: readonly Case[]): Case[] {
  const places = cases.flatMap((each) => slicesOf(each).map((group, order) => ({ each, group, order })));
  places.sort(
    (a, b) => a.order - b.order || compareNames(a.group, b.group) || compareNames(b.each.label, a.each.label),
  );
  return places.map(({ each, group }) => Object.assign({}, each, { group }));
}

function slicesOf(each: Case): string[] {
  const least = LENGTHS.find((length) => each.words >= length) ?? 0;
  const longer = LENGTHS[LENGTHS.indexOf(least) - 1];
  const length = longer === undefined ? `${least} words and more` : `${least} to ${longer - 1} words`;
  const link = each.hasLink ? "with a link" : "without a link";
  return [length, link, each.script, ...(isShortLink(each) ? [SHORT_LINK] : [])];
}

export function isShortLink({ hasLink, words }: Case): boolean {
  return hasLink && words < FEW_WORDS;
}

/** The signals that robots wrote a name. */
const NAME_SIGNALS = new Set(["name-link", "name-lines", "name-email", "name-random", "name-tail"]);

/** Groups the cases that have a sender by whether a robot seems to have written the name. */
export function bySender(cases: readonly Case[]): Case[] {
  return cases
    .map((each) => {
      const isRobot = each.evidence.identity.some(({ signal }) => NAME_SIGNALS.has(signal));
      return { ...each, group: isRobot ? "a name as robots write it" : "any other name" };
    })
    .toSorted((a, b) => compareNames(a.group, b.group));
}

function compareNames(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
