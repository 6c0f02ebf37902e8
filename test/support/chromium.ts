import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

/**
 * The places where Chromium may be. `chromium-headless-shell` comes first: it has no windows around the pages, which take more than half of
 * the processor time.
 */
const PLACES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map(
  (name) => `/usr/bin/${name}`,
);

/** The path of Chromium; null skips the tests that need it. `CHROMIUM` names another path. */
export const chromiumPath: string | null =
  [process.env["CHROMIUM"] ?? "", ...PLACES].find((path) => path !== "" && existsSync(path)) ?? null;

if (chromiumPath === null) {
  process.stderr.write(
    "SKIPPED: the tests in a real browser, because Chromium is not installed. Run scripts/install-chromium.sh\n",
  );
}

/** Options that stop Chromium's own look-ups and updates, so that it makes only the requests of the test. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A page lives for a shorter time than it takes to optimize its scripts, above all axe.
  "--js-flags=--no-turbofan,--no-maglev",
];

/** Lets the pages of one site share a process, which saves a tenth of a test's processor time. */
const ONE_RENDERER = "--renderer-process-limit=1";

/** The Chromiums of this process, by their options. Its files of tests use them one after another, because a start costs as much as ten pages. */
const shared = new Map<string, Promise<Browser>>();

/** Gives a Chromium to a file of tests. `close` closes what it opened there, and Chromium ends with the process. */
async function share(args: readonly string[]): Promise<Browser> {
  const key = args.join(" ");
  const before = await shared.get(key)?.catch(() => null);
  if (before?.isConnected() !== true)
    shared.set(key, chromium.launch({ executablePath: chromiumPath ?? "", args: [...args] }));
  const browser = await shared.get(key);
  if (browser === undefined) throw new Error("Chromium did not start");
  const close = async (): Promise<void> => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
  return new Proxy(browser, {
    get(target, name) {
      if (name === "close") return close;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Launches Chromium, unless this process has one. @param program the path of a program that starts one that ends when it is closed */
export function launchChromium(program?: string): Promise<Browser> {
  const args = [...QUIET, ONE_RENDERER];
  return program === undefined ? share(args) : chromium.launch({ executablePath: program, args });
}

/**
 * Launches a Chromium that styles pages and lays them out, and never draws them, which saves a sixth of its processor time. It is for tests
 * that look at pages by scripts, and use the keyboard at most: a click waits until an element stands still in two pictures, for ever.
 * No script of ours waits for a picture. A colour on its way to another would stay where it began: ask for `reducedMotion`.
 */
export function launchUndrawn(): Promise<Browser> {
  return share([...QUIET, ONE_RENDERER, "--disable-threaded-compositing"]);
}

/** Serves a site of the test to a page as if it were at another origin, on another machine. */
export async function serveAt(page: Page, origin: string, siteOrigin: string): Promise<void> {
  await page.route(`${origin}/**`, async (route) => {
    const url = route.request().url().replace(origin, siteOrigin);
    await route.fulfill({ response: await route.fetch({ url, maxRedirects: 0 }) });
  });
}
