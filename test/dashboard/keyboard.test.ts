import type { Browser, Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeInvitationToken } from "../../src/workspaces/invitation-store.ts";
import { insertWorkspaceRow } from "../../src/workspaces/workspace-store.ts";
import { storeTotp } from "../../src/sessions/credential-store.ts";
import { setRecipientEnabled } from "../../src/outbox/queue/recipient-store.ts";
import { chromiumPath, launchUndrawn } from "../support/chromium.ts";
import { addressOf, dashboardRoutes, EVERY_PAGE, pagesOf } from "../support/dashboard-routes.ts";
import { sendFile } from "../support/import-file.ts";
import { addInvitation, furnish, type OwnerHome } from "../support/owner-home.ts";
import { ADA, PASSWORD, signInForms } from "../support/sign-in-form.ts";
import { openTab } from "../support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { PATIENCE_MS } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

/** More than a thousand keys take about ten seconds; only a hang takes longer than this. */
const TIME_LIMIT_MS = 6 * PATIENCE_MS;

/** A place that the keyboard must come to. */
interface Place {
  readonly name: string;
  /** Whether it is filled or pressed when the keyboard is there. */
  readonly isActedOn: boolean;
}

/** Where the keyboard is. */
interface Focus {
  /** Among the places that it must come to; -1 for any other, like a box that scrolls. */
  readonly index: number;
  readonly name: string;
  readonly hasRing: boolean;
  readonly isSubmit: boolean;
  /** Of an input that is required and empty; null for any other. */
  readonly typeToFill: string | null;
}

/**
 * Runs in a page. Lists every place that the keyboard must come to: all that it can come to by itself, and every control and
 * button of a form even if the page keeps the keyboard from it. What is hidden from screen readers, like the button that only the
 * Enter key presses, is no place, and neither is what is inert, like a preview.
 */
const watch = (isPastNavigation: boolean): string => `{
  const isPastNavigation = ${isPastNavigation};
  const isShown = (each) => each.checkVisibility({ visibilityProperty: true }) && each.closest("[aria-hidden=true], [inert]") === null;
  // The Tab key comes to one of several choices, and the arrows go on from there.
  const isOtherChoice = (each) => each.type === "radio" && !each.checked && [...each.form.elements].some(({ name, checked }) => name === each.name && checked);
  const ofForms = [...document.forms].flatMap((form) => [...form.elements])
    .filter((each) => each.localName !== "fieldset" && (!isPastNavigation || each.closest("nav.main") === null));
  const ofPage = [...document.querySelectorAll("a[href], summary, button, input, select, textarea, [tabindex]")]
    .filter((each) => each.tabIndex >= 0 && (!isPastNavigation || each.closest("nav.main, .skip") === null));
  const all = new Set([...ofPage, ...ofForms].filter((each) => isShown(each) && !each.disabled && each.type !== "hidden" && !isOtherChoice(each)));
  const places = [...document.querySelectorAll("*")].filter((each) => all.has(each));
  const nameOf = (each) => [each.localName, each.name, each.value, each.textContent.trim().slice(0, 40), each.form?.action]
    .filter((part) => part).join(" ");
  const isSubmit = (each) => each.localName === "button" && each.type === "submit" && each.form?.method !== "dialog";
  const isEmpty = (each) => each.matches("input:required, textarea:required") && each.value === "";
  globalThis.places = places.map((each) => ({ name: nameOf(each), isActedOn: isSubmit(each) || isEmpty(each) }));
  const focusAt = (each) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    return {
      index: places.indexOf(each),
      name: nameOf(each),
      hasRing: outlineStyle !== "none" && outlineWidth !== "0px",
      isSubmit: isSubmit(each),
      typeToFill: isEmpty(each) ? each.type : null,
    };
  };
  const trail = [];
  addEventListener("focusin", () => trail.push(focusAt(document.activeElement)));
  globalThis.takeTrail = () => trail.splice(0);
}`;

const TYPED: Readonly<Record<string, string>> = {
  email: "grace@example.org",
  url: "https://example.org/hook",
  password: "seven oak boards and a plane",
};

const TABLE = {
  name: "old.csv",
  mimeType: "text/csv",
  buffer: Buffer.from("created_at,name,email,message\n2026-01-31T10:00:00Z,Ada,ada@example.org,Hello\n"),
};

/**
 * From now on the page stays where it is when a form is sent, and the server hears nothing of it. Only a page that is opened has no referrer.
 * Nothing else is asked about: a page of which every request is asked about gets its style and script anew each time.
 */
async function sendNothing(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on("Fetch.requestPaused", ({ requestId, request }) => {
    const isOfPage = request.method === "POST" || request.headers["Referer"] !== undefined;
    const answer = isOfPage
      ? session.send("Fetch.fulfillRequest", { requestId, responseCode: 204 })
      : session.send("Fetch.continueRequest", { requestId });
    // A page that was left waits for no answer.
    answer.catch(() => {});
  });
  // A list that is edited in place (XHR) then sends its form as it does without script.
  const patterns = (["Document", "XHR"] as const).map((resourceType) => ({ resourceType }));
  await session.send("Fetch.enable", { patterns });
}

/**
 * Goes through the page by the Tab key, fills what has to be filled, and presses each button that sends a form, by turns with the
 * space bar and with Enter.
 *
 * @param skipsNavigation begins behind the navigation, by the page's own link for that, if it has one.
 */
async function useByKeyboard(
  page: Page,
  skipsNavigation = false,
): Promise<{ problems: string[]; sent: Request[] }> {
  const sent: Request[] = [];
  const skips = skipsNavigation && (await page.locator("a.skip").count()) > 0;
  if (skips) {
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
  }
  await page.evaluate(watch(skips));
  const places = (await page.evaluate("places")) as readonly Place[];
  const left = new Map(places.entries());
  const problems: string[] = [];
  let before = -1;
  // A date has a place for each of its parts, and boxes that scroll are places too.
  for (let tabs = 0; left.size > 0 && tabs < 2 * places.length + 40;) {
    const steps = stepsBehind(before, places);
    tabs += steps;
    const trail = await holdTab(page, steps);
    for (const [position, focus] of trail.entries()) {
      // What is acted on is met out of its order if the keyboard is already further.
      const isActedOn = focus.isSubmit || focus.typeToFill !== null;
      if ((isActedOn && position < trail.length - 1) || !left.delete(focus.index)) continue;
      if (focus.index < before) problems.push(`${focus.name} comes too late`);
      before = focus.index;
      if (!focus.hasRing) problems.push(`${focus.name} does not show that the keyboard is there`);
      if (focus.typeToFill === "file") await page.locator("input[type=file]").setInputFiles(TABLE);
      else if (focus.typeToFill !== null) await page.keyboard.type(TYPED[focus.typeToFill] ?? "Text");
      if (focus.isSubmit) sent.push(await press(page, sent.length % 2 === 0 ? "Space" : "Enter"));
    }
  }
  problems.push(...[...left.values()].map(({ name }) => `the keyboard does not come to ${name}`));
  return { problems, sent };
}

/** How many places there are to the next one that is acted on. */
function stepsBehind(before: number, places: readonly Place[]): number {
  const next = places.findIndex(({ isActedOn }, index) => index > before && isActedOn);
  return Math.max(1, (next === -1 ? places.length : next + 1) - 1 - before);
}

/** Holds the Tab key until it has repeated itself as often as this. Returns where the keyboard came. */
async function holdTab(page: Page, times: number): Promise<readonly Focus[]> {
  for (let time = 0; time < times; time += 1) await page.keyboard.down("Tab");
  await page.keyboard.up("Tab");
  return (await page.evaluate("takeTrail()")) as readonly Focus[];
}

async function press(page: Page, key: "Space" | "Enter"): Promise<Request> {
  const request = page.waitForRequest((each) => each.isNavigationRequest());
  await page.keyboard.press(key);
  return request;
}

/** What a page's script sends after a device was asked, which this machine has none of: passkeys-browser.test.ts presses those buttons. */
const AFTER_DEVICE: ReadonlySet<string> = new Set([
  "/dashboard/account/passkeys",
  "/dashboard/sign-in/passkey",
  "/dashboard/sign-in/passkey/ask",
]);

/** Lets owners choose spam settings, so that there is a form for them. */
const CUSTOM_SPAM = { plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } } };

/** A site that may not post, an undeclared value, and an e-mail that waits for a recipient that fails. */
function laterStates({ endpointId, submissionIds, mailRecipientId, mailDeliveryId }: OwnerHome): string[] {
  return [
    `UPDATE endpoint SET allowed_origins = '["https://example.com"]' WHERE id = '${endpointId}'`,
    `INSERT INTO refused_origin (endpoint_id, origin, posts, last_at)
     VALUES ('${endpointId}', 'https://new.example.com', 2, ${Date.now()})`,
    `UPDATE submission SET unknown_fields = '{"allergies":"peanuts"}' WHERE id = '${submissionIds[0]}'`,
    `UPDATE recipient SET failing_since = 1 WHERE id = '${mailRecipientId}'`,
    `UPDATE delivery SET state = 'pending', finished_at = NULL, due_at = 4000000000000 WHERE id = '${mailDeliveryId}'`,
  ];
}

describe.skipIf(chromiumPath === null)("by keyboard alone", () => {
  let server: TestServer;
  let browser: Browser;
  let ada: OwnerHome;

  beforeAll(async () => {
    [server, browser] = await Promise.all([launchServer({ ...EVERY_PAGE, ...CUSTOM_SPAM }), launchUndrawn()]);
    await signInForms(server).useLink();
    ada = await furnish(server, ADA);
    // Another browser of hers, which she can sign out.
    await visit(server, ADA);
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function openPage(): Promise<Page> {
    const { page } = await openTab(browser, server, ada.visitor);
    // What was typed and not saved is left.
    page.on("dialog", (dialog) => void dialog.accept());
    await sendNothing(page);
    return page;
  }

  test(
    "every control of every page is reached in its order and shows it, and every write is sent",
    async () => {
      const page = await openPage();
      const routes = await dashboardRoutes(server);
      const problems: string[] = [];
      const written = new Set<string>();
      let isFirst = true;
      const use = async (shown: Page): Promise<void> => {
        // The navigation is the same everywhere.
        const used = await useByKeyboard(shown, !isFirst);
        isFirst = false;
        problems.push(...used.problems.map((each) => `${shown.url()}: ${each}`));
        for (const request of used.sent)
          if (request.method() === "POST") written.add(new URL(request.url()).pathname);
      };
      const open = async (path: string): Promise<void> => {
        await page.goto(`${server.url}${path}`);
        await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
        // What is done with selected rows is there once a row is selected.
        await page.evaluate(
          "for (const each of document.querySelectorAll('tbody')) each.querySelector('[name=id]')?.click()",
        );
        await use(page);
      };
      for (const path of pagesOf(routes, ada)) await open(path);
      // What is shown only later.
      server.owner.now(() => storeTotp(ada.accountId, Buffer.from("secret"), 1, server.clock.now()));
      server.owner.now(() => setRecipientEnabled(ada.webhookId, false));
      await open("/dashboard/account/second-factor");
      server.owner.execute(
        `INSERT INTO oidc_binding VALUES ('https://id.example.com', 'ada', '${ada.accountId}', 1)`,
      );
      await open(`/dashboard/system/accounts/${ada.accountId}`);
      await open(`/dashboard/webhooks/${ada.webhookId}`);
      for (const change of laterStates(ada)) server.owner.execute(change);
      const file = { id: ada.fileId, name: "cv.txt", size: 1, type: "text/plain", sha256: "00" };
      server.owner
        .prepare("UPDATE submission SET data = json_set(data, '$.cv', json(?)) WHERE id = ?")
        .run(JSON.stringify([file]), ada.submissionIds[0]);
      await open("/dashboard");
      await open(`/dashboard/endpoints/${ada.endpointId}`);
      const importing = `/dashboard/endpoints/${ada.endpointId}/import`;
      await sendFile(server, ada.visitor, importing, { bytes: TABLE.buffer });
      await open(importing);
      await open(`/dashboard/submissions/${ada.submissionIds[0]}`);
      await open(`/dashboard/recipients/${ada.mailRecipientId}`);
      const [binned = ""] = ada.submissionIds;
      server.owner.execute(
        `INSERT INTO submission_bin SELECT id, endpoint_number, 1 FROM submission WHERE id = '${binned}'`,
      );
      await open("/dashboard?deleted=1");
      await open(`/dashboard/submissions/${binned}?deleted=1`);
      server.owner.execute("DELETE FROM submission_bin");
      // A form can be moved only if there is another workspace.
      server.owner.now(() => insertWorkspaceRow("Elsewhere", ada.accountId, server.clock.now()));
      await open(`/dashboard/endpoints/${ada.endpointId}`);
      server.owner.execute(
        "INSERT OR REPLACE INTO place_fault (kind, place, since, message, next_probe_at) VALUES ('mail', '127.0.0.1:9', 1, 'Nobody listens', 4000000000000)",
      );
      // What was found is kept for ten seconds.
      server.clock.advance(11_000);
      await open("/dashboard/system");
      server.owner.now(() => setRecipientEnabled(ada.mailRecipientId, false));
      await open(`/dashboard/recipients/${ada.mailRecipientId}`);
      server.owner.execute("UPDATE recipient SET confirmed_at = NULL WHERE kind = 'mail'");
      await open(`/dashboard/recipients/${ada.mailRecipientId}`);
      server.owner.execute(
        `UPDATE account SET is_doubtful = 1, email_proved_at = NULL WHERE id = '${ada.accountId}'`,
      );
      await open(`/dashboard/system/accounts/${ada.accountId}`);
      await page.goto(`${server.url}/dashboard/sign-in`);
      await use(page);
      await use(await askedForCode());
      await use(await invited());
      expect(problems).toEqual([]);
      const writes = routes
        .filter(({ method, path }) => method === "POST" && !AFTER_DEVICE.has(path))
        .map((route) => new URL(addressOf(route, ada), server.url).pathname);
      expect(writes.filter((path) => !written.has(path))).toEqual([]);
      await page.context().close();
    },
    TIME_LIMIT_MS,
  );

  /** The page that asks for the second factor, after the password. */
  async function askedForCode(): Promise<Page> {
    const { page } = await openTab(browser, server, ada.visitor);
    await page.goto(`${server.url}/dashboard/sign-in`);
    await page.fill("[name=email]", ADA);
    await page.fill("[name=password]", PASSWORD);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Second factor" }).waitFor();
    await sendNothing(page);
    return page;
  }

  /** What somebody sees who is not signed in and has the link of an invitation. */
  async function invited(): Promise<Page> {
    const id = addInvitation(server, ada.workspaceId, "grace@example.org");
    const token = server.owner.now(() => makeInvitationToken(id, "handed_hash", server.clock.now()));
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${server.url}/dashboard/invitation`);
    await page.fill("[name=token]", token ?? "");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "You are invited" }).waitFor();
    await sendNothing(page);
    return page;
  }

  test("planted faults are found: a button out of reach, no ring, a trap", async () => {
    const page = await openPage();
    await page.goto(`${server.url}/dashboard/endpoints`);
    await page.evaluate(`{
      const add = (parent, name, change) => parent.appendChild(Object.assign(document.createElement(name), change));
      const main = document.querySelector("main");
      add(main, "button", { textContent: "Bare", type: "button" }).style.outline = "none";
      add(add(main, "form", { method: "post" }), "button", { textContent: "Far", tabIndex: -1 });
      add(main, "input", { ariaLabel: "Trap", name: "trap" }).addEventListener("keydown", (event) => event.preventDefault());
      add(main, "button", { textContent: "Behind", type: "button" });
    }`);
    const { problems } = await useByKeyboard(page);
    expect(problems).toEqual([
      expect.stringMatching(/Bare does not show that the keyboard is there/),
      expect.stringMatching(/the keyboard does not come to button Far/),
      expect.stringMatching(/the keyboard does not come to button Behind/),
    ]);
    await page.context().close();
  });
});
