import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findingText, rawWords } from "../../src/dashboard/system/finding-words.ts";
import { furnish } from "../support/owner-home.ts";
import { makeFolder } from "../support/temporary-folder.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

const MAIL = { host: "127.0.0.1", port: 9, from: "forms@example.com" };
const TOLD = "Nothing listens at mail.host and mail.port (ECONNREFUSED: connect 127.0.0.1:9).";

test("while the mail server is down its recipients wait, the banner is a sentence, and what was tried is folded", async () => {
  const server = await startServer({
    mail: MAIL,
    server: { port: 0, baseUrl: "https://forms.example.com" },
  });
  const ada = await furnish(server, "ada@example.com");
  server.owner.execute("UPDATE recipient SET failing_since = NULL");
  const recipient = `/dashboard/recipients/${ada.mailRecipientId}`;
  expect((await ada.visitor.get(recipient)).text).toContain(">Working<");
  const now = server.clock.now();
  server.owner
    .prepare(
      "INSERT INTO place_fault (kind, place, since, message, next_probe_at) VALUES ('mail', '127.0.0.1:9', ?, ?, ?)",
    )
    .run(now - 60_000, TOLD, now + 60_000);
  const reply = `/dashboard/endpoints/${ada.endpointId}/reply`;
  for (const path of [recipient, reply, "/dashboard/notifications"]) {
    const { text } = await ada.visitor.get(path);
    expect(text, path).toContain(">Waiting<");
    expect(text.split("Webhooks and chats")[0], path).not.toContain(">Working<");
    expect(text, path).not.toContain(">On<");
  }
  const system = (await ada.visitor.get("/dashboard/system")).text;
  expect(system).toMatch(/<details>\s*<summary>What was tried<\/summary>\s*<code dir="auto">ECONNREFUSED: /);
  expect(system.replaceAll(/<details.*?<\/details>/gs, "")).not.toContain("ECONNREFUSED");
  const inbox = (await ada.visitor.get("/dashboard")).text;
  expect(inbox).toMatch(
    /Mail server: all e-mail waits since [^<]*Nothing listens at mail\.host and mail\.port\.</,
  );
  expect(inbox).not.toContain("ECONNREFUSED");
});

test("what a program said is apart from what it means", () => {
  expect(findingText(TOLD)).toBe("Nothing listens at mail.host and mail.port.");
  expect(rawWords(TOLD)).toBe("ECONNREFUSED: connect 127.0.0.1:9");
  expect(rawWords("nothing waits (as it should)")).toBe("");
});

test("the System page names the configuration file that was found, says every hour, and calls no two checks the same", async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "found.json");
  writeFileSync(file, "{}", { mode: 0o600 });
  const before = process.env["FORMSVC_CONFIG"];
  process.env["FORMSVC_CONFIG"] = file;
  onTestFinished(() => {
    if (before === undefined) delete process.env["FORMSVC_CONFIG"];
    else process.env["FORMSVC_CONFIG"] = before;
  });
  const server = await startServer({ mail: MAIL, backup: { everyHours: 1 } });
  const { text } = await (await visit(server, "operator@example.com")).get("/dashboard/system");
  expect(text).toContain(file);
  expect(text).toContain("every hour; the newest");
  const checks = text.slice(0, text.indexOf(">This server<"));
  const names = [...checks.matchAll(/<(?:b|h3)>([\w -]+)<\/(?:b|h3)>/g)].map(([, name]) => name);
  expect(names.filter((name) => name?.startsWith("E-mail"))).toHaveLength(3);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
