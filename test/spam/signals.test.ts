import { expect, test } from "vitest";
import { scoreSpam } from "../../src/spam/score-spam.ts";
import { readPost } from "../../src/spam/read-post.ts";
import { textReasons } from "../../src/spam/signals/text.ts";
import { findLinks } from "../../src/spam/links.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import { defaultSpamSettings, type SpamSettings } from "../../src/spam/spam-settings.ts";
import { client, postOf } from "./posts.ts";

const settings = defaultSpamSettings(3);

function signals(fields: Record<string, unknown>, more: Partial<SpamSettings> = {}): string[] {
  return scoreSpam(postOf(fields), { ...settings, ...more }, noHistory).reasons.map(({ signal }) => signal);
}

test.each([
  [
    "link-shortener",
    "The minutes of our meeting are at https://bit.ly/3xyz, please read them before the weekend.",
  ],
  [
    "link-redirector",
    "Everything about it stands on https://telegra.ph/Read-this-11-03 for those who want to know.",
  ],
  ["link-cheap", "Everything about it stands on https://stones.top for those who want to know more of that."],
  [
    "link-markup",
    'Everything about it stands on <a href="https://stones.example.org">the page</a> of our club.',
  ],
  [
    "link-pitch",
    "We offer cheap SEO services for your website, free audit on https://rank.example.org, order now",
  ],
  [
    "link-messenger",
    "Everything about the offer is told to those who write to https://wa.me/4900000 tonight.",
  ],
  ["link-free-host", "Everything about it stands on https://stones.weebly.com for those who want to know."],
  ["link-random", "Everything about it stands on https://stones.example.org/Ab3xY9q for those who want it."],
  ["link-digits", "Everything about it stands on https://stones24.example.org for those who want it."],
  [
    "link-edge",
    "Everything about the offer of our stones from the quarry stands on https://stones.example.org",
  ],
  ["link-bare", "look https://stones.example.org"],
  ["link-short", "Everything about the stones of our quarry stands on https://stones.example.org for you"],
  ["mixed-script", "Your \u0440\u0430ypal account and your b\u0430nk are waiting for you"],
  ["hidden-characters", "che\u200bap pi\u200blls for every\u200bbody"],
  [
    "fancy-letters",
    "\u{1d5d6}\u{1d5f5}\u{1d5f2}\u{1d5ee}\u{1d5fd} \u{1d5fd}\u{1d5f6}\u{1d5f9}\u{1d5f9}\u{1d600}",
  ],
  ["random-text", "xkqzjvwpth"],
  ["random-text", "hGtrWqzXvbNkLp"],
  ["price-probe", "Hoi, ik wilde uw prijs weten."],
  ["price-probe", "Hola, queria saber tu precio"],
  ["price-probe", "Здравствуйте, хотел узнать вашу цену."],
  ["price-probe", "你好，我想知道你的价格。"],
  ["attack", "../../../../etc/passwd"],
  ["attack", "1' or '1'='1"],
  ["seo-pitch", "We build backlinks and raise the domain authority of your website."],
  ["adult-link", "Sexy girls are waiting for you on https://girls.example.org tonight"],
  [
    "money-link",
    "Make money from home! Earn passive income with our trading robot, first profit today: https://coins.example.org",
  ],
  ["offer-link", "Special offer with free shipping on https://bags.example.org for everybody"],
  ["pitch", "We offer a free quote, would you be interested?"],
])("%s is found", (signal, message) => {
  expect(signals({ message })).toContain(signal);
});

test.each([
  [
    "a question about the price of something",
    "Hi, I wanted to know your price for a room with sea view in May.",
  ],
  [
    "a report of an attack",
    "When I type <script>alert(1)</script> into the search field of your shop the page runs it, please have a look.",
  ],
  [
    "a Russian word in a Latin abbreviation",
    "Пришлите, пожалуйста, PDFку с расписанием на следующую неделю.",
  ],
  ["a unit with a Greek letter", "The filter keeps particles larger than 5 μm away, doesn't it?"],
  ["a file name", "The installer stops at build.sh and leaves main.rs behind."],
  [
    "code with a list named url",
    "The effect runs twice: useEffect(() => open(url), [url]); and I do not know why it does.",
  ],
  ["an e-mail address", "Please write to anna@example.org or to info@example.com in the morning."],
  ["a long German word", "Die Donaudampfschifffahrtsgesellschaft hat geschrieben."],
])("%s is nothing odd", (_, message) => {
  const odd = signals({ message }).filter((signal) => signal !== "text" && signal !== "scale");
  expect(odd).toEqual([]);
});

test.each([
  ["name-link", { name: "Anna https://shop.example.org" }],
  ["name-lines", { name: "Anna\r\nBcc: all" }],
  ["name-email", { name: "anna@example.org x" }],
  ["name-random", { full_name: "qzxvbkjwtp" }],
  ["name-tail", { yourName: "DavidJox" }],
  ["name-tail", { name: "robertfug" }],
  ["disposable-email", { email: "x@mailinator.com" }],
  ["same-values", { name: "hello", city: "hello", message: "hello" }],
])("%s is found in %j", (signal, fields) => {
  expect(signals(fields)).toContain(signal);
});

test.each([
  "Ana Ruiz",
  "McDonald",
  "Jean-Luc de la Tour",
  "Đặng Thị Huyền",
  "LeBron James",
  "王小明",
  "O'Brien",
  "Krzysztof Brzęczyszczykiewicz",
  "Williamson",
  "annamaria",
  "Robertsson",
  "Danielewicz",
])("the name %j is nothing odd", (name) => {
  expect(signals({ name })).toEqual([]);
});

test("more links than the limit cost points and the limit's number do not, and a technical form may have ten", () => {
  const links = (count: number) =>
    Array.from({ length: count }, (_, index) => `the page on rivers https://site${index}.example/a`).join(
      " and ",
    );
  expect(signals({ message: links(3) })).not.toContain("links-many");
  expect(signals({ message: links(4) })).toContain("links-many");
  expect(signals({ message: links(10) }, { technical: true })).not.toContain("links-many");
  expect(signals({ message: links(11) }, { technical: true })).toContain("links-many");
});

test("a link in fewer than 60 characters costs 34 points, in fewer than 160 nine, and in more none", () => {
  const link = "https://stones.example.org";
  const pointsOf = (length: number) =>
    scoreSpam(postOf({ message: `${"a ".repeat(length / 2)}${link}` }), settings, noHistory)
      .reasons.filter(({ signal }) => signal === "link-bare" || signal === "link-short")
      .map(({ points }) => points);
  expect([58, 60, 158, 160].map(pointsOf)).toEqual([[34], [9], [9], []]);
});

test("text in nested members and lists is scored like any other", () => {
  expect(signals({ form: { notes: ["look https://stones.example.org"] } })).toContain("link-bare");
});

test("a form filled faster than anybody types costs points, and a quick one-word form does not", () => {
  const score = (message: string, elapsedMs: number | null) =>
    scoreSpam(postOf({ message }, { elapsedMs }), settings, noHistory).score;
  const typed = "Could you tell me when the swimming pool opens again?";
  expect([400, 2000, 45_000, null].map((elapsed) => score(typed, elapsed))).toEqual([30, 15, 0, 0]);
  expect(score("yes", 400)).toBe(0);
});

test("many posts from one network cost points", () => {
  const burst = { posts: 12, endpoints: 1 };
  const { reasons } = scoreSpam(postOf({ message: "hello" }, { client }), settings, { ...noHistory, burst });
  expect(reasons.map(({ signal }) => signal)).toEqual(["burst"]);
});

test.each([
  ["see https://a.example.org/x?y=1#z, and more", ["a.example.org"]],
  ["HTTP://WWW.Example.COM", ["example.com"]],
  ["www.example.museum and example.museum", ["example.museum"]],
  ["shop.example.com/sale.", ["shop.example.com"]],
  ["one.com two.net;three.org", ["one.com", "two.net", "three.org"]],
  ["anna@example.org, https://anna@example.org", []],
  ["version 1.2.3, main.ts, i.e. this, U.S.A., end.Next", []],
  ["m.Store(1), user.id, sync.Map, button.click(), a.me_too", []],
  ["прочти пример.рф сейчас", ["пример.рф"]],
])("the links of %j are %j", (text, hosts) => {
  expect(findLinks(text).map(({ host }) => host)).toEqual(hosts);
});

test.each([
  [-9, -96],
  [-4.5, -56],
  [-1, undefined],
  [1.5, 40],
  [9, 128],
])("log-odds of %d for the wording give %d points, in few words as in many", (odds, points) => {
  for (const message of ["Herons waited here today", "Herons waited by the old mill while rain fell on it"]) {
    expect(textReasons({ ...readPost(postOf({ message })), odds })[0]?.points).toBe(points);
  }
  expect(textReasons({ ...readPost(postOf({ message: "Herons waited here" })), odds })).toEqual([]);
});
