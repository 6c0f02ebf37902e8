import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { asSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { pdf, sha256 } from "../support/uploads.ts";

const ESCAPES = "\u001b[2J\u001b]0;title\u0007\u009b31m\u202egnp.exe";
/** What would steer a terminal: all control characters but line breaks, and the marks that turn the direction of text. */
const STEERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\p{Bidi_Control}]/u;

test("what a receiver or an export says steers no terminal, also where a command repeats it", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema: { cv: { type: "file" } } });
  await using receiver = await startReceiverWith((response, _, index) => {
    if (index === 0) response.writeHead(400).end(JSON.stringify({ error: `no such topic ${ESCAPES}` }));
    else response.writeHead(302, { location: "https://example.com/\u009b31m" }).end();
  });
  const create = ["webhook", "create", "--endpoint", endpoint.id, "--allow-private"];
  const address = ["--url", new URL("/topic", receiver.url).href];
  for (const more of [["--format", "ntfy"], []]) {
    const made = [...create, ...address, ...more];
    const { webhook } = await machine.json<{ webhook: { id: string } }>(made);
    const { stdout, stderr } = await machine.run(["webhook", "test", webhook.id]);
    expect(stdout).toMatch(/no such topic|a redirect to/);
    expect(`${stdout}${stderr}`).not.toMatch(STEERS);
  }

  const content = pdf(2000);
  const id = "fil_01h455vb4pex5vsknk084sn02q";
  const cv = [{ id, name: "a.pdf", size: content.length, type: `a/${ESCAPES}`, sha256: sha256(content) }];
  const line = submissionJson(asSubmission({ endpointId: endpoint.id, data: { cv }, createdAt: NOON }));
  machine.write("all.ndjson", JSON.stringify(line));
  mkdirSync(machine.path(`files/${line.id}`), { recursive: true });
  writeFileSync(machine.path(`files/${line.id}/a.pdf`), content);
  const here = { env: { FORMSVC_SERVER: "" } };
  const { stderr } = await machine.run(["submission", "import", "all.ndjson", "--files", "files"], here);
  expect(stderr).toContain("its content is not a/");
  expect(stderr).not.toMatch(STEERS);
}, 60_000);
