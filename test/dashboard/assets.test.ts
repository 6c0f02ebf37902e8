import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { renderDashboardAssets } from "../../scripts/embed-dashboard.ts";
import { script } from "../../src/dashboard/assets/assets.generated.ts";

/** Bytes of the script that a page may load. */
const MAX_SCRIPT_BYTES = 15_360;

test("the embedded style sheet and script are those that the sources make (npm run fix)", async () => {
  const embedded = readFileSync(
    new URL("../../src/dashboard/assets/assets.generated.ts", import.meta.url),
    "utf8",
  );
  expect(embedded).toBe(await renderDashboardAssets());
});

test("the script has at most 15 KB", () => {
  expect(Buffer.byteLength(script)).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
});
