import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import { makeMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import { goodPost } from "../support/test-server.ts";
import { blocksOf } from "../recipes/recipe-blocks.ts";

const page = readFileSync(new URL("../../docs/api.md", import.meta.url), "utf8");
const manage = page.slice(page.indexOf("## Manage"));
/** Each part of the page with its blocks for a shell, but for those of the command line. */
const parts = manage
  .split(/^### /m)
  .slice(1)
  .map((part) => ({
    title: part.slice(0, part.indexOf("\n")),
    blocks: blocksOf(part).filter(({ language, text }) => language === "sh" && text.startsWith("curl")),
  }))
  .filter(({ blocks }) => blocks.length > 0);

const machine = makeMachine();
let server: RunningServer;
let form: Awaited<ReturnType<typeof machine.createEndpoint>>;
let env: Record<string, string>;

beforeAll(async () => {
  machine.configure({
    server: { baseUrl: "https://forms.example.com" },
    mail: { host: "127.0.0.1", port: 9, from: "forms@example.com" },
    webhooks: { allowNetworks: ["203.0.113.0/24"] },
  });
  server = await machine.serve();
  form = await machine.createEndpoint();
  const scopes = [
    "submissions:write",
    "submissions:export",
    "endpoints:write",
    "recipients:write",
    "workspace:read",
    "operator",
  ];
  const flags = scopes.flatMap((scope) => ["--scope", scope]);
  const { secret } = await machine.json<{ secret: string }>(["token", "create", "--name", "doc", ...flags]);
  const keys = await machine.json<{ data: { id: string; kind: string }[] }>(["key", "list", form.id]);
  const url = "https://203.0.113.7/hook";
  const made = await machine.json<{ webhook: { id: string } }>([
    "webhook",
    "create",
    "--endpoint",
    form.id,
    "--url",
    url,
  ]);
  const workspaces = await machine.json<{ data: { id: string }[] }>(["workspace", "list"]);
  // An answer of 400 and more ends a curl with an error.
  writeFileSync(join(machine.folder, ".curlrc"), 'silent\nfail-with-body\nwrite-out = "\\n"\n');
  env = {
    PATH: process.env["PATH"] ?? "",
    HOME: machine.folder,
    FORMSVC_TOKEN: secret,
    ENDPOINT: form.id,
    KEY: keys.data.find(({ kind }) => kind === "publishable")?.id ?? "",
    WEBHOOK: made.webhook.id,
    SUBMISSION: await postOne(),
    WORKSPACE: workspaces.data[0]?.id ?? "",
  };
});
afterAll(() => machine.remove());

async function postOne(): Promise<string> {
  const headers = { authorization: `Bearer ${form.secret}`, "content-type": "application/json" };
  const answer = await fetch(`${server.url}/submit`, {
    method: "POST",
    headers,
    body: JSON.stringify(goodPost),
  });
  return ((await answer.json()) as { submission_id: string }).submission_id;
}

describe.each(parts)("$title", ({ blocks }) => {
  test("each command of the page works as it stands", async () => {
    for (const { text } of blocks) {
      const script = machine.write(
        "try.sh",
        `set -e\n${text.replaceAll("https://forms.example.com", server.url)}`,
      );
      const { stdout } = await promisify(execFile)("bash", [script], { cwd: machine.folder, env });
      const answers = stdout.split("\n").filter((line) => line !== "");
      expect(answers.length).toBeGreaterThan(0);
      for (const answer of answers) expect(JSON.parse(answer)).not.toHaveProperty("error");
    }
  });
});

test("the page has a command for each resource", () => {
  const asked = parts.flatMap(({ blocks }) => blocks.map(({ text }) => text)).join("\n");
  const resources = new Set(ROUTES.map(({ path }) => path.split("/")[1] ?? ""));
  expect([...resources].filter((resource) => !asked.includes(`/api/v1/${resource}`))).toEqual([]);
});
