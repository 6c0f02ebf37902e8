import { expect, test } from "vitest";
import { errorOf } from "../../src/cli/remote/remote-error.ts";

test("a server at a distance says at most 10,000 characters to a person or an agent", () => {
  const long = { message: "x".repeat(200_000) };
  for (const statusCode of [400, 401, 500]) {
    const { message } = errorOf("https://forms.example", { statusCode, headers: {} }, long);
    expect(message.length).toBeGreaterThan(9000);
    expect(message.length).toBeLessThan(10_100);
  }
});
