import { readFileSync, writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { textOf } from "../support/mailed-site.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { freePort } from "../support/postgresql-cluster.ts";
import { readZip } from "../support/read-zip.ts";
import { startRealIssuer } from "../support/real-issuer.ts";
import { CLIENT } from "../support/scripted-issuer.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import { PATIENCE_MS, until } from "../support/until.ts";

/** It takes less than a minute; only a hang takes longer than this. */
const TIME_LIMIT_MS = 6 * PATIENCE_MS;
const AGENCY = "agency@example.com";
const CLIENTS = ["Bakery", "Joinery", "Florist"];
const FORMS = ["Contact", "Orders", "Jobs"];

const addressOf = (client: string): string => `${client.toLowerCase()}@example.org`;

/** What a member of an archive holds. */
const memberOf = (zip: Buffer, name: string): string => String(readZip(zip).get(name));

describe.skipIf(chromiumPath === null)("an agency with three clients", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** A server whose people sign in by a real provider only, with three workspaces of three forms each. */
  async function open() {
    const [port, mail] = [await freePort(), await startMailServer()];
    const site = `http://127.0.0.1:${port}`;
    const { issuer } = await startRealIssuer(site);
    const machine = operatorMachine({
      server: { port, baseUrl: site },
      oidc: { issuer, ...CLIENT, label: "Example ID" },
      dashboard: { passwords: "off" },
      mail: { host: "127.0.0.1", port: mail.port, from: "forms@example.com" },
    });
    // The first account is the operator's.
    await machine.mustRun(["account", "create", "root@example.com"]);
    await machine.mustRun(["account", "create", AGENCY]);
    const keys = new Map<string, string>();
    for (const client of CLIENTS) {
      await machine.mustRun(["workspace", "create", "--name", client, "--account", AGENCY]);
      for (const form of FORMS) {
        const name = `${client} ${form}`;
        const made = await machine.json<{ keys: { publishable: string } }>([
          "endpoint",
          "create",
          "--workspace",
          client,
          "--name",
          name,
          "--schema",
          machine.write("schema.json", { message: { type: "string", required: true } }),
        ]);
        keys.set(name, made.keys.publishable);
      }
    }
    const server = await machine.serve({ args: ["--port", String(port)] });
    for (const [name, key] of keys) {
      const answer = await fetch(`${server.url}/submit`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          origin: "https://example.org",
        },
        body: JSON.stringify({ message: `A question about ${name}` }),
      });
      expect([name, answer.status]).toEqual([name, 200]);
    }
    return { machine, mail, issuer, at: (path: string) => `${site}/dashboard${path}` };
  }

  async function newPage(): Promise<Page> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    return page;
  }

  /** From a page with the button of the provider, on its own pages, and back. */
  async function signIn(page: Page, issuer: string, email: string): Promise<void> {
    await page.click("text=Sign in with Example ID");
    await page.waitForURL(`${issuer}/**`);
    await page.fill("[name=login]", email);
    await page.fill("[name=password]", "anything");
    await page.click("button[type=submit]");
    await page.click("button:has-text('Continue')");
  }

  /** What somebody sees of the forms of all clients, on their list of forms and in their inbox. */
  async function seen(
    page: Page,
    at: (path: string) => string,
  ): Promise<{ forms: string[]; posts: string[] }> {
    const names = CLIENTS.flatMap((client) => FORMS.map((form) => `${client} ${form}`));
    const textAt = async (path: string): Promise<string> => {
      await page.goto(at(path));
      return page.innerText("main");
    };
    const [list, inbox] = [await textAt("/endpoints"), await textAt("")];
    return {
      forms: names.filter((name) => list.includes(name)),
      posts: names.filter((name) => inbox.includes(`A question about ${name}`)),
    };
  }

  const of = (client: string, forms: readonly string[] = FORMS): { forms: string[]; posts: string[] } => {
    const names = forms.map((form) => `${client} ${form}`);
    return { forms: names, posts: names };
  };

  test(
    "invites them by mail; each signs in by the provider, sees exactly its forms, works on them and leaves; a workspace moves elsewhere",
    async () => {
      const { machine, mail, issuer, at } = await open();
      const agency = await newPage();
      await agency.goto(at("/members"));
      expect(await agency.locator("input[type=password]").count()).toBe(0);
      await signIn(agency, issuer, AGENCY);
      await agency.waitForURL(at("/members"));
      for (const client of CLIENTS) {
        await agency.goto(at("/members"));
        await agency.selectOption("select[name=workspace]", { label: client });
        await agency.click("button:has-text('Show')");
        await agency.fill("[name=email]", addressOf(client));
        // The first client is an editor of two of its forms, the others read or edit all of theirs.
        await agency.check(`[name=role][value=${client === "Florist" ? "reader" : "editor"}]`);
        if (client === "Bakery") {
          await agency.check("[name=of][value=some]");
          for (const form of ["Contact", "Orders"]) await agency.getByLabel(`${client} ${form}`).check();
        }
        await agency.click("button:has-text('Invite')");
        await agency.waitForURL(/notice=invited|members$/);
      }

      const pages = new Map<string, Page>();
      for (const client of CLIENTS) {
        const letter = await until(() => mail.received.find(({ to }) => to.includes(addressOf(client))));
        const [link = ""] =
          /http:\/\/127\.0\.0\.1:\d+\/dashboard\/invitation#[\w-]{32}/.exec(textOf(letter)) ?? [];
        const page = await newPage();
        await page.goto(link);
        await page.waitForSelector("text=You are invited");
        await page.click("main >> a:has-text('Sign in')");
        await signIn(page, issuer, addressOf(client));
        await page.waitForURL(at("/invitations"));
        await page.click(`tr:has-text('${client}') >> button:has-text('Accept')`);
        await page.waitForURL((url) => !url.pathname.endsWith("/invitations") || url.search !== "");
        pages.set(client, page);
      }
      const [bakery, joinery, florist] = CLIENTS.map((client) => pages.get(client)!) as [Page, Page, Page];
      expect(await seen(bakery, at)).toEqual(of("Bakery", ["Contact", "Orders"]));
      expect(await seen(joinery, at)).toEqual(of("Joinery"));
      expect(await seen(florist, at)).toEqual(of("Florist"));

      await bakery.goto(at(""));
      await bakery.click("a:has-text('A question about Bakery Orders')");
      await bakery.selectOption("[name=assignee]", { label: `${addressOf("Bakery")} (you)` });
      await bakery.click("button[value=assign]");
      await bakery.waitForURL(/notice=/);
      await bakery.click("button:has-text('Done')");
      await bakery.waitForURL(/notice=/);
      const worked = async () => {
        const { data } = await machine.json<{
          data: { state: string; assignee: { email: string } | null }[];
        }>(["submission", "list", "--state", "done"]);
        return data.map(({ state, assignee }) => [state, assignee?.email]);
      };
      expect(await worked()).toEqual([["done", addressOf("Bakery")]]);
      await florist.goto(at(""));
      await florist.click("a:has-text('A question about Florist Jobs')");
      expect(await florist.locator("button[value=assign]").count()).toBe(0);

      await bakery.goto(at("/account"));
      // Their own workspace is called bakery.
      await bakery.getByRole("button", { name: "Leave Bakery", exact: true }).click();
      // It is asked once more.
      await bakery.getByRole("button", { name: "Leave it" }).click();
      await bakery.waitForURL(/notice=/);
      expect(await seen(bakery, at)).toEqual({ forms: [], posts: [] });
      expect(await seen(joinery, at)).toEqual(of("Joinery"));

      const archive = machine.path("bakery.zip");
      const told = await machine.json(["workspace", "export", "Bakery", archive]);
      expect(told).toMatchObject({ endpoints: 3, submissions: 3 });
      await machine.mustRun(["workspace", "delete", "Bakery", "--yes"]);
      const { forms } = await seen(agency, at);
      expect(forms).toEqual([...of("Joinery").forms, ...of("Florist").forms]);
      const elsewhere = operatorMachine();
      const zip = readFileSync(archive);
      await elsewhere.mustRun([
        "apply",
        elsewhere.write("settings.json", memberOf(zip, "settings.json")),
        "--env",
      ]);
      const applied = await elsewhere.json<{ data: { id: string; name: string }[] }>(["endpoint", "list"]);
      expect(applied.data.map(({ name }) => name).toSorted()).toEqual(of("Bakery").forms.toSorted());
      const orders = applied.data.find(({ name }) => name === "Bakery Orders")?.id ?? "";
      const posts = elsewhere.path("orders.ndjson");
      const lines = memberOf(zip, "submissions.ndjson").trim().split("\n");
      writeFileSync(posts, lines.filter((line) => line.includes("Bakery Orders")).join("\n"));
      await elsewhere.mustRun(["submission", "import", posts, "--endpoint", orders]);
      const imported = await elsewhere.json<{ data: { data: unknown }[] }>(["submission", "list"]);
      expect(imported.data.map(({ data }) => data)).toEqual([{ message: "A question about Bakery Orders" }]);
    },
    TIME_LIMIT_MS,
  );
});
