import { assert, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { type Brand, checkBrand, inkOn, NO_BRAND } from "../../src/foundation/brand.ts";

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test("words on any colour have a contrast of 4.5 at least", () => {
  assert(
    property(integer({ min: 0, max: 0xffffff }), (value) => {
      const colour = `#${value.toString(16).padStart(6, "0")}`;
      const [light = 0, dark = 0] = [luminance(colour), luminance(inkOn(colour))].toSorted((a, b) => b - a);
      expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(4.5);
    }),
    { numRuns: 2000 },
  );
});

test("a brand is stored without outer blanks, with a small colour and line breaks of one kind; empty texts are none", () => {
  expect(checkBrand({ colour: " #0B6E5F ", name: " Mia’s Bakery ", footer: "one\r\ntwo\n" })).toEqual({
    colour: "#0b6e5f",
    name: "Mia’s Bakery",
    footer: "one\ntwo",
  });
  expect(checkBrand({ colour: "", name: " ", footer: "\n" })).toEqual(NO_BRAND);
  expect(checkBrand({ ...NO_BRAND, name: "مخبز ميا", footer: "מאפיית מיה" }).name).toBe("مخبز ميا");
});

const DIRECTION = "a control character or a mark that turns the direction of text";

test.each<[Partial<Brand>, string]>([
  [{ colour: "red" }, 'not a colour: "red"'],
  [{ colour: "#fff" }, "not a colour"],
  [{ colour: "#0b6e5f80" }, "not a colour"],
  [{ colour: "rgb(1, 2, 3)" }, "not a colour"],
  [{ colour: "url(https://evil.example/x)" }, "not a colour"],
  [{ colour: "#ffffff;}body{display:none" }, "not a colour"],
  [{ colour: "#ffffff\n" + "x".repeat(10_000) }, "not a colour"],
  [{ name: "x".repeat(201) }, "the name for visitors is longer than 200 bytes"],
  [{ name: "ü".repeat(101) }, "the name for visitors is longer than 200 bytes"],
  [{ footer: "x".repeat(1001) }, "the footer for visitors is longer than 1000 bytes"],
  [{ name: "two\nlines" }, DIRECTION],
  [{ name: "a\u0007b" }, DIRECTION],
  [{ name: "a\u202eb" }, DIRECTION],
  [{ footer: "a\u2066b" }, DIRECTION],
  [{ footer: "a\u0000b" }, DIRECTION],
])("%j is refused: %s", (brand, complaint) => {
  expect(() => checkBrand({ ...NO_BRAND, ...brand })).toThrow(complaint);
});
