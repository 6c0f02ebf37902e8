import { describe, expect, test } from "vitest";
import { Html, html, type HtmlValue } from "../../src/foundation/html.ts";

const show = (value: unknown): string =>
  String(html`<p title="${value as HtmlValue}">${value as HtmlValue}</p>`);

test("every value is escaped, in text and in attributes", () => {
  expect(show(`<img src=x onerror='a'>"&`)).toBe(
    `<p title="&lt;img src=x onerror=&#39;a&#39;&gt;&quot;&amp;">&lt;img src=x onerror=&#39;a&#39;&gt;&quot;&amp;</p>`,
  );
});

test("markup that the tag made is kept, in lists too", () => {
  const rows = ["a<", "b"].map((text) => html`<li>${text}</li>`);
  expect(String(html`<ul>${rows}</ul>`)).toBe("<ul><li>a&lt;</li><li>b</li></ul>");
  expect(String(html`<input${null}${html` checked`}>`)).toBe("<input checked>");
  expect(String(html`<input ${false}${html`checked`}>`)).toBe("<input checked>");
  expect(String(html`${null}${undefined}${false}${0}`)).toBe("0");
});

test("hostile values from JSON are shown, and neither break the page nor pass for markup", () => {
  const values = [
    '{"toString":"x"}',
    '{"isEscaped":true,"text":"<b>"}',
    '{"__proto__":{"markup":"<b>"}}',
    '{"constructor":{"name":"Html"},"markup":"<b>"}',
    '[["<b>",{"toString":null}]]',
  ].map((text) => JSON.parse(text) as unknown);
  for (const value of values) expect(show(value)).not.toMatch(/<b>|\[object/);
  const lookalike = Object.create(Html.prototype) as Html;
  expect(Html.isHtml(lookalike)).toBe(false);
});

describe("an address", () => {
  const link = (address: string): string => String(html`<a href="${address}">x</a>`);

  test.each([
    "javascript:alert(1)",
    " java\nscript:alert(1)",
    "\u0001JavaScript:x",
    "data:text/html,<b>",
    "//evil.example",
    "vbscript:x",
    "/\\evil.example",
  ])("of another kind than web, mail and this site becomes #: %j", (address) =>
    expect(link(address)).toBe('<a href="#">x</a>'),
  );

  test.each(["https://a.example/?b=1", "mailto:a@example.com", "/dashboard", "?class=high", "#main", ""])(
    "of the web, of mail and of this site stays: %j",
    (address) => expect(link(address)).toBe(`<a href="${address}">x</a>`),
  );
});

test.each([
  ["an attribute without quotes", () => html`<p title=${"x"}></p>`],
  ["an attribute in single quotes", () => html`<p title='${"x"}'></p>`],
  ["the name of a tag", () => html`<${"x"}>`],
  ["the rest of the name of a tag", () => html`<p${html`re`}>`],
  [
    "a script",
    () =>
      html`<script>
        ${"x"};
      </script>`,
  ],
  [
    "a style",
    () =>
      html`<style>
        p {
          color: ${"x"};
        }
      </style>`,
  ],
  ["a comment", () => html`<!-- ${"x"} -->`],
  ["text inside a tag", () => html`<p ${"onclick=x"}></p>`],
  ["markup in an attribute", () => html`<p title="${html`<b></b>`}"></p>`],
])("a hole is refused in %s", (_place, render) => {
  expect(render).toThrow(TypeError);
});
