import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chromiumPath, launchUndrawn } from "../support/chromium.ts";
import { visitorPage } from "../../src/http/visitors/visitor-page.ts";
import { html } from "../../src/foundation/html.ts";

/** By name: the colour in light and the one in dark. */
type Colours = Map<string, readonly [light: string, dark: string]>;

function dashboardColours(): Colours {
  const sheet = readFileSync(new URL("../../src/dashboard/assets/style.css", import.meta.url), "utf8");
  const found = sheet.matchAll(/^ {2}(--[a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/gm);
  return new Map([...found].map(([, name = "", light = "", dark = ""]) => [name, [light, dark]]));
}

function visitorColours(): Colours {
  const roots = [...visitorPage("en", "Title", html``).matchAll(/:root ?\{([^}]*)\}/g)].map(
    ([, body = ""]) =>
      new Map(
        [...body.matchAll(/(--[a-z-]+): ?(#[0-9a-f]+)(?:;|$)/g)].map(([, name = "", value = ""]) => [
          name,
          value,
        ]),
      ),
  );
  const [light, dark] = roots;
  return new Map([...(light ?? [])].map(([name, value]) => [name, [value, dark?.get(name) ?? ""]]));
}

test("pages for visitors and recipients have the dashboard's colours, in light and in dark", () => {
  const [theirs, ours] = [visitorColours(), dashboardColours()];
  expect(theirs.size).toBeGreaterThanOrEqual(10);
  for (const [name, colours] of theirs) expect([name, colours]).toEqual([name, ours.get(name)]);
});

test.skipIf(chromiumPath === null)(
  "an input with a wrong answer looks different in forced colours too, which leave out colours and shadows",
  async () => {
    const browser = await launchUndrawn();
    const page = await browser.newPage({ forcedColors: "active" });
    await page.setContent(
      visitorPage("en", "Title", html`<input name="right" /><input name="wrong" aria-invalid="true" />`),
    );
    const edge = (name: string): Promise<unknown> =>
      page.evaluate(`getComputedStyle(document.querySelector("[name=${name}]")).borderTopWidth`);
    expect([await edge("right"), await edge("wrong")]).toEqual(["1px", "2px"]);
    await browser.close();
  },
);
