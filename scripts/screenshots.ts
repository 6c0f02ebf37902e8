import { mkdirSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { chromiumPath, launchChromium } from "../test/support/chromium.ts";
import { dashboardRoutes, pagesOf } from "../test/support/dashboard-routes.ts";
import type { OwnerHome } from "../test/support/owner-home.ts";
import { openTab } from "../test/support/signed-in-browser.ts";
import { launchServer, type TestServer } from "../test/support/test-server.ts";
import { furnishJoinery } from "./screenshots/furnish-joinery.ts";

/*
 * Takes a picture of every page of the dashboard, light and dark, wide and narrow, with the posts of an invented workshop. Writes the
 * pictures to build/screenshots.
 * Usage: npm run screenshots [PART OF A NAME]
 */

const FOLDER = new URL("../build/screenshots/", import.meta.url).pathname;
const WIDTHS = [1920, 1280, 768, 320];
const HEIGHT = 800;
/** A Sunday morning. */
const NOW = Date.UTC(2026, 4, 24, 9, 30);

if (import.meta.main) {
  const [part = ""] = process.argv.slice(2);
  const server = await launchServer({
    plans: { hobby: { monthlySubmissions: 250, endpoints: 3, customSpam: true } },
    server: { trustProxy: ["127.0.0.1"], baseUrl: "https://forms.joinery.example" },
    mail: { host: "127.0.0.1", from: "forms@joinery.example" },
    webhooks: { allowNetworks: ["127.0.0.1"] },
  });
  const browser = await launchChromium(chromiumPath ?? "");
  try {
    server.clock.set(NOW);
    await takeAll(server, browser, part);
  } finally {
    await browser.close();
    await server.stop();
  }
}

async function takeAll(server: TestServer, browser: Browser, part: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const home = await furnishJoinery(server);
  const paths = (await pathsOf(server, home)).filter(([name]) => name.includes(part));
  for (const colorScheme of ["light", "dark"] as const) {
    const { page, context } = await openTab(browser, server, home.visitor, {
      colorScheme,
      reducedMotion: "reduce",
    });
    // The event stream would be a request that never ends.
    await page.route("**/dashboard/events*", (route) => route.abort());
    await page.clock.setFixedTime(NOW);
    for (const [name, path, act] of paths) {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        await page.goto(`${server.url}${path}`);
        await act?.(page);
        await page.screenshot({
          path: `${FOLDER}${name}-${colorScheme}-${width}.png`,
          fullPage: act === undefined,
        });
      }
    }
    await context.close();
  }
  process.stdout.write(`${paths.length * 2 * WIDTHS.length} pictures in ${FOLDER}\n`);
}

type Shot = readonly [name: string, path: string, act?: (page: Page) => Promise<unknown>];

/** Lists every page by its route, and some pages after a button was pressed. */
async function pathsOf(server: TestServer, home: OwnerHome): Promise<Shot[]> {
  const routes = await dashboardRoutes(server);
  const shots: Shot[] = routes
    .filter(({ method }) => method === "GET")
    .flatMap((route) => pagesOf([route], home).map((path): Shot => [nameOf(route.path), path]));
  return [
    ...shots,
    ["first-screen", "/dashboard", async () => {}],
    ["inbox-last-week", "/dashboard?since=2026-05-17", async () => {}],
    ["inbox-nothing-found", "/dashboard?q=violin"],
    ["not-found", "/dashboard/no-such-page"],
    ["keys", "/dashboard", (page) => page.keyboard.press("?")],
  ];
}

function nameOf(path: string): string {
  const name = path.replace(/^\/dashboard\/?/, "").replaceAll(/\/:?/g, "-");
  return name === "" ? "inbox" : name;
}
