import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";

/** A command of each noun that no other test of the built file runs, and what it prints. */
const LINES: readonly (readonly [string, RegExp])[] = [
  ["workspace usage", /250/],
  ["endpoint set Contact --honeypot website", /^ep_/],
  ["schema types Contact", /export interface ContactInput/],
  ["key issue Contact --kind publishable", /fpk_\w{50}/],
  ["submission find --field email=ada@example.org", /nothing is kept/],
  ["held list", /no held posts/],
  ["member list --workspace owner", /owner@localhost/],
  ["recipient list", /no recipients yet/],
  ["autoreply show Contact", /off/],
  ["secrets status", /plain/],
  ["config show", /"port": 8787/],
  ["completion bash", /_formsvc/],
  ["docs webhooks", /^# Webhooks/],
];

test("the built file has the commands of each noun, with the texts and scripts that lie packed beside its own", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const lines = await Promise.all(
    LINES.map(async ([line]) => [line, await machine.run(line.split(" "))] as const),
  );
  for (const [index, [line, { code, stdout, stderr }]] of lines.entries()) {
    expect([line, code]).toEqual([line, 0]);
    expect(stdout + stderr, line).toMatch(LINES[index]?.[1] ?? /^$/);
  }
});
