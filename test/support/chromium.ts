import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** The shell is Chromium without the windows around the pages, which take more than half of the processor time. */
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

/** Looks nothing up and updates nothing by itself, so that only the test's own requests are made. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A page lives for less time than its scripts, and axe above all, take to be optimized.
  "--js-flags=--no-turbofan,--no-maglev",
];

/** Pages of one site share a process, which takes a tenth off a test's processor time. */
const ONE_RENDERER = "--renderer-process-limit=1";

/** @param program what starts it in the place of its own path. */
export function launchChromium(program = chromiumPath ?? ""): Promise<Browser> {
  return chromium.launch({ executablePath: program, args: [...QUIET, ONE_RENDERER] });
}
