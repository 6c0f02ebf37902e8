import { expect, test } from "vitest";
import { FORMAT_TESTS } from "../../src/schemas/formats.ts";

test("a date is a day that there is, as an input of type date sends it", () => {
  for (const day of ["2026-11-30", "2024-02-29", "0001-01-01", "9999-12-31"])
    expect(FORMAT_TESTS.date(day), day).toBe(true);
  for (const none of ["2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "30.11.2026", "2026-1-1", ""])
    expect(FORMAT_TESTS.date(none), none).toBe(false);
  for (const none of ["2026-11-30T00:00", " 2026-11-30", "2026-11-30\n", "+002026-11-30", "٢٠٢٦-١١-٣٠"])
    expect(FORMAT_TESTS.date(none), none).toBe(false);
});

test("a telephone number has 5 to 15 digits and the signs that people write between them", () => {
  for (const number of ["+44 20 7946 0958", "(030) 1234-567", "01234", "089/12.34.56", "123456789012345"])
    expect(FORMAT_TESTS.phone(number), number).toBe(true);
  for (const none of [
    "1234",
    "1234567890123456",
    "+1+23456",
    "call me",
    "12345 ext 6",
    "",
    "+",
    `1${" ".repeat(40)}2345`,
  ])
    expect(FORMAT_TESTS.phone(none), none).toBe(false);
});
