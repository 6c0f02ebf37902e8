import { expect, test } from "vitest";
import * as fc from "fast-check";
import { cleanName } from "../../src/files/clean-name.ts";

test("a name keeps what people read, and loses paths, controls and turned text", () => {
  expect(cleanName("Lebenslauf Zoë.pdf")).toBe("Lebenslauf Zoë.pdf");
  expect(cleanName("../../etc/passwd")).toBe("passwd");
  expect(cleanName("C:\\Users\\ana\\cv.pdf")).toBe("cv.pdf");
  expect(cleanName("cv\u202Efdp.exe")).toBe("cvfdp.exe");
  expect(cleanName("a\r\nSet-Cookie: b.pdf")).toBe("aSet-Cookie_ b.pdf");
  expect(cleanName('a"b<c>|d?.pdf')).toBe("a_b_c__d_.pdf");
  expect(cleanName("a%22b%0D%0Ac 100%.pdf")).toBe("a_bc 100%.pdf");
  expect(cleanName("run.exe. . ")).toBe("run.exe");
  expect(cleanName(".htaccess")).toBe("htaccess");
  expect(cleanName("日本語.pdf")).toBe("日本語.pdf");
  for (const nothing of ["", "/", "..", " . ", "\u200B", "\0"]) expect(cleanName(nothing)).toBeNull();
});

test("whatever a client sends as a name, what is kept is one short line without a folder", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (given) => {
      const name = cleanName(given);
      if (name === null) return;
      expect(name.isWellFormed()).toBe(true);
      expect(Array.from(name).length).toBeLessThanOrEqual(200);
      expect(name).toMatch(/^[^/\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);
      expect(name.startsWith(".")).toBe(false);
      expect(cleanName(name)).toBe(name);
    }),
    { numRuns: 50 },
  );
});

test("a long name keeps its extension", () => {
  expect(cleanName(`${"a".repeat(300)}.docx`)).toBe(`${"a".repeat(195)}.docx`);
});
