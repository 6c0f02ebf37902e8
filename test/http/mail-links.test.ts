import { afterAll, describe, expect, test } from "vitest";
import { startConfirmation } from "../../src/mail/recipients/agree-to-mail.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { unsubscribeUrl } from "../../src/mail/recipients/mail-links.ts";
import {
  defaultMailRecipientSettings,
  type MailRecipient,
} from "../../src/mail/recipients/mail-recipient.ts";
import { getMailRecipient } from "../../src/mail/recipients/mail-recipient-store.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import type { Answer } from "../support/http-client.ts";
import { BASE_URL, startMailedSite } from "../support/mailed-site.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";
import { until } from "../support/until.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const HOSTILE = "<img src=x onerror=alert(1)> & \u202eform";

async function begin(isConfirmed: boolean) {
  const { server } = await startMailedSite();
  const { id: endpointId } = await server.addEndpoint();
  server.owner.prepare("UPDATE endpoint SET name = ? WHERE id = ?").run(HOSTILE, endpointId);
  const settings = { ...defaultMailRecipientSettings, address: "ada@example.org" };
  const now = () => server.clock.now();
  const recipient = server.owner.now(() => addMailRecipient({ endpointId, settings, isConfirmed }, now()));
  const ask = (): string => {
    const token = server.owner.now(() => startConfirmation(recipient.id, now()));
    return `/mail/confirm/${recipient.id}/${token}`;
  };
  return {
    server,
    recipient,
    ask,
    path: unsubscribeUrl(BASE_URL, recipient).slice(BASE_URL.length),
    read: (): MailRecipient => server.owner.now(() => getMailRecipient(recipient.id)),
    get: (path: string, language?: string): Promise<Answer> =>
      server.request({
        method: "GET",
        path,
        headers: language === undefined ? {} : { "accept-language": language },
      }),
    post: (path: string, type = "application/x-www-form-urlencoded", body = ""): Promise<Answer> =>
      server.request({ method: "POST", path, headers: { "content-type": type }, body }),
  };
}

test("the link of a confirmation shows what it does, and only its button does it, once", async () => {
  const { server, ask, get, post, read } = await begin(false);
  const path = ask();
  const shown = await get(path);
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining("ada@example.org")]);
  // A name is a stranger's text until the holder has agreed.
  expect(shown.text).not.toContain("onerror");
  expect(shown.text).toMatch(/The link is good until \d+ [A-Z][a-z]+ at \d\d:\d\d UTC\./);
  server.owner.prepare("UPDATE workspace SET time_zone = 'Asia/Tokyo'").run();
  expect((await get(path)).text).toMatch(/The link is good until \d+ [A-Z][a-z]+ at \d\d:\d\d GMT\+9\./);
  expect(read().confirmedAt).toBeNull();
  const done = await post(path);
  expect([done.status, done.text]).toEqual([200, expect.stringContaining("You get these e-mails now")]);
  expect(read().confirmedAt).not.toBeNull();
  expect([(await get(path)).status, (await post(path)).status]).toEqual([404, 404]);
});

test("a link that a mail program cut or lengthened leads to the same page as a dead one, and no token is logged", async () => {
  const { server, ask, path, get, post } = await begin(false);
  const asked = ask();
  const dead = (await get(`${asked}x`, "de")).text;
  for (const wrong of [
    "/mail/confirm",
    "/mail/confirm/",
    asked.slice(0, asked.lastIndexOf("/")),
    `${asked}/`,
  ]) {
    const { status, text } = await get(wrong, "de");
    expect([status, text], wrong).toEqual([404, dead]);
  }
  const stopped = await post(`${path}/%3E`);
  expect([stopped.status, stopped.text]).toEqual([
    404,
    expect.stringContaining("use the link in the newest"),
  ]);
  const tokens = [asked, path].map((each) => each.slice(each.lastIndexOf("/") + 1));
  for (const token of tokens) expect(server.log.join("\n")).not.toContain(token);
});

test("the pages of links are in the endpoint's language, else in the browser's, also if the link is dead", async () => {
  const { server, ask, path, get, post, recipient } = await begin(false);
  const asked = ask();
  expect((await get(asked, "de-CH")).text).toContain("Dürfen wir Ihnen E-Mails senden?");
  expect((await get(path, "he")).text).toContain('<html lang="he" dir="rtl">');
  const dead = await get(`/mail/confirm/${recipient.id}/none`, "de");
  expect([dead.status, dead.text]).toEqual([404, expect.stringContaining(wordingIn("de").text("deadEntry"))]);
  const gone = await get(`/mail/unsubscribe/${recipient.id}/none`, "fr");
  expect(gone.text).toContain(wordingIn("fr").text("deadStopLink"));
  expect(gone.text).toContain(wordingIn("fr").text("deadStopNext"));
  expect(dead.text).toContain(wordingIn("de").text("deadLinkNext"));
  expect(dead.text + gone.text).not.toContain("Not found");
  server.owner.prepare("UPDATE endpoint SET language = 'it'").run();
  const italian = await get(asked, "de");
  expect(italian.text).toContain("Possiamo inviarLe delle e-mail?");
  expect(italian.text).toMatch(/valido fino al \d+ [a-z]+ alle ore \d\d:\d\d UTC\./);
  // A name is a stranger's text until the holder has agreed.
  expect(italian.text).not.toContain("onerror");
  // The browser puts the quotation marks of the page's language around the name.
  const agreed = await post(asked);
  expect(agreed.text).toMatch(/<html lang="it".*con il modulo <q><bdi>[^<]+<\/bdi><\/q> arriva/s);
});

test("what a link did stands among the changes as a visitor's doing, not as the command line's", async () => {
  const { server, ask, post, path } = await begin(false);
  const operator = await visit(server);
  await post(ask());
  await post(path);
  const { text } = await operator.get("/dashboard/system/changes");
  const doers = [...text.matchAll(/<span class="muted"[^>]*>(visitor|command line)<\/span>/g)].map(
    ([, doer]) => doer,
  );
  expect(doers.slice(0, 2)).toEqual(["visitor", "visitor"]);
  const rows = server.owner.prepare(
    "SELECT account_id, email FROM audit_event WHERE action LIKE ? ORDER BY id",
  );
  expect(rows.all("recipient.confirm")).toEqual([{ account_id: null, email: "visitor" }]);
  expect(rows.all("recipient.unsubscribe")).toEqual([{ account_id: null, email: "visitor" }]);
});

test("a newer link and seven days end the one before", async () => {
  const { server, ask, post, read } = await begin(false);
  const [first, second] = [ask(), ask()];
  expect((await post(first)).status).toBe(404);
  server.clock.advance(7 * DAY_MS);
  expect((await post(second)).status).toBe(404);
  expect(read().confirmedAt).toBeNull();
});

test("programs that open each link of an e-mail unsubscribe nobody, and the button does", async () => {
  const { path, get, post, read } = await begin(true);
  const shown = await get(path);
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining("Stop sending them to me")]);
  expect(read().unsubscribedAt).toBeNull();
  for (let time = 0; time < 2; time += 1) {
    const done = await post(path);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining("You get no more of these")]);
  }
  expect(read()).toMatchObject({ state: "disabled", unsubscribedAt: expect.any(Number) as number });
  expect((await get(path)).text).toContain("You get no more of these");
});

describe("a mail provider's one click ends the e-mails", () => {
  const multipart =
    '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
  test.each([
    ["application/x-www-form-urlencoded", "List-Unsubscribe=One-Click"],
    ["multipart/form-data; boundary=x", multipart],
  ])("as %s", async (type, body) => {
    const { path, post, read } = await begin(true);
    expect((await post(path, type, body)).status).toBe(200);
    expect(read().unsubscribedAt).not.toBeNull();
  });
});

test("a link with another's token, a changed one or none is answered in the same words, and does nothing", async () => {
  const { recipient, path, get, post, read } = await begin(true);
  const { unsubscribeToken: token, id } = recipient;
  const changed = `${token.startsWith("A") ? "B" : "A"}${token.slice(1)}`;
  const wrong = [
    `${id}/${changed}`,
    `${id}/${token}x`,
    `${id}/-`,
    `rcpt_00000000000000000000000000/${token}`,
  ];
  const words = new Set<string>();
  for (const each of wrong) {
    for (const answer of [await get(`/mail/unsubscribe/${each}`), await post(`/mail/unsubscribe/${each}`)]) {
      expect(answer.status).toBe(404);
      words.add(answer.text);
    }
  }
  expect(words.size).toBe(1);
  // It only ends e-mails.
  expect((await post(path.replace("unsubscribe", "confirm"))).status).toBe(404);
  expect(read().unsubscribedAt).toBeNull();
});

test("a wrong link and one that was used before wait for no other process that writes, and write nothing", async () => {
  const { server, path, post } = await begin(true);
  expect((await post(path)).status).toBe(200);
  server.owner.execute("BEGIN IMMEDIATE");
  const answers = [await post(path), await post(`${path}x`)];
  server.owner.execute("ROLLBACK");
  expect(answers.map(({ status }) => status)).toEqual([200, 404]);
});

test("the pages run no script, are kept by no cache and in no frame, and an endpoint's name stays a text", async () => {
  const { server, path, get } = await begin(true);
  const { headers, text } = await get(path);
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
  expect(headers["cache-control"]).toBe("no-store");
  expect(text).toContain("&lt;img src=x");
  expect(text).not.toContain("<img");
  expect(server.log.join("\n")).not.toContain(path.split("/").at(-1));
});

test("a body that is no form or too large is refused on a page, and does nothing", async () => {
  const { path, post, read } = await begin(true);
  expect((await post(path, "text/plain", "x")).status).toBe(415);
  expect((await post(path, undefined, "x".repeat(5000))).status).toBe(413);
  expect(read().unsubscribedAt).toBeNull();
});

test("without a mail server there are no such pages, and the log has no token", async () => {
  const server = await startServer();
  for (const kind of ["confirm", "unsubscribe"])
    for (const method of ["GET", "POST"])
      expect((await server.request({ method, path: `/mail/${kind}/rcpt_1/t0ken` })).status).toBe(404);
  await until(() => server.log.filter((line) => line.includes("/mail/")).length === 4);
  expect(server.log.join("")).not.toContain("t0ken");
});

describe.skipIf(chromiumPath === null)("in Chromium, on a phone", () => {
  const browser = chromiumPath === null ? null : launchChromium();
  afterAll(async () => (await browser)?.close());

  test("a German heading breaks no line within E-Mails, at any width", async () => {
    const { server, path, get, post } = await begin(true);
    server.owner.prepare("UPDATE endpoint SET language = 'de'").run();
    const pages = [await get(path), await post(path)];
    const page = await (await browser!).newPage();
    for (const { text } of pages) {
      await page.setContent(text);
      for (let width = 300; width <= 420; width += 10) {
        await page.setViewportSize({ width, height: 640 });
        const lines =
          "[...document.querySelectorAll('h1 .unbroken')].map((word) => word.getClientRects().length)";
        expect([width, ...(await page.evaluate<number[]>(lines))]).toEqual([width, 1]);
      }
    }
    await page.close();
  });
});
