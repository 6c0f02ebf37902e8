import { expect, test } from "vitest";
import { addFormOwner, type FormOwner } from "../support/form-owner.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

/** An address inside, a name that leads there, and a name that does not exist. */
const HOSTS = ["127.0.0.1", "localhost", "no-such-name.invalid"];
const WEBHOOK_ID = /\bwh_[0-9a-z]{26}\b/;
const SENTENCE = "the name does not exist, or this server may not send to its address";
/** Whatever would tell one from another. */
const TELLING =
  /loopback|127\.0\.0\.1|is not allowed|EBLOCKED|ENOTFOUND|EAI_|not exist \(|could not be looked up/;

/** What the owner of a webhook to this host reads everywhere, without what differs between any two webhooks. */
async function readAbout(server: TestServer, host: string): Promise<Record<string, string>> {
  const eve: FormOwner = await addFormOwner(server, `eve-${host}@example.com`);
  const plain = (text: string): string =>
    text
      .replaceAll(`${host}:9`, "HOST")
      .replaceAll(host, "HOST")
      .replace(/<head>.*<\/head>/s, "")
      .replaceAll(/\b(?:wh|msg|sub|ep|ws|acct)_[0-9a-z]{26}\b|whsec_[A-Za-z0-9+/=]+|[0-9a-f]{32,}/g, "ID")
      .replaceAll(/name="form_mark" value="[^"]*"/g, "MARK")
      .replaceAll(/<time[^>]*>.*?<\/time>/gs, "TIME");
  const url = `http://${host}:9/hook`;
  const form = { endpoint: eve.endpoint.id, url, max_spam_score: "100" };
  const made = await eve.post("/dashboard/webhooks/new", form);
  const path = `/dashboard/webhooks/${WEBHOOK_ID.exec(made.text)?.[0]}`;
  const tested = await eve.post(`${path}/test`);
  await server.post(eve.endpoint.secret, goodPost, { "x-submitter-ip": "198.51.100.7" });
  const message = await until(() =>
    server.owner
      .prepare(
        "SELECT delivery_id FROM attempt JOIN delivery ON delivery.id = delivery_id WHERE recipient_id = ?",
      )
      .pluck()
      .get(path.split("/").at(-1)),
  );
  const submissionId = server.owner
    .prepare("SELECT submission_id FROM delivery WHERE id = ?")
    .pluck()
    .get(message);
  const seen = /name="seen" value="([^"]*)"/.exec((await eve.get(`${path}/edit`)).text)?.[1] ?? "";
  const changed = await eve.post(`${path}/edit`, { ...form, seen, url: `${url}/2` });
  const pages = {
    made: made.text,
    tested: tested.text,
    webhook: (await eve.get(path)).text,
    message: (await eve.get(`${path}/deliveries/${String(message)}`)).text,
    submission: (await eve.get(`/dashboard/submissions/${String(submissionId)}`)).text,
    changed: (await eve.get(String(changed.headers.location))).text,
    notifications: (await eve.get("/dashboard/notifications")).text,
  };
  return Object.fromEntries(Object.entries(pages).map(([name, text]) => [name, plain(text)]));
}

test("an owner is told the same of an address inside, of a name that leads there, and of a name that does not exist", async () => {
  const server = await startServer();
  await visit(server);
  const read = [];
  for (const host of HOSTS) read.push(await readAbout(server, host));
  const [inside, named, missing] = read;
  expect(named).toEqual(inside);
  expect(missing).toEqual(inside);
  for (const where of ["made", "tested", "message"]) expect(inside?.[where], where).toContain(SENTENCE);
  for (const text of Object.values(inside ?? {})) expect(text.replaceAll("HOST", "")).not.toMatch(TELLING);
});

test("an operator is told the address and why nothing is sent there", async () => {
  const server = await startServer();
  const ada = await addFormOwner(server, "ada@example.com");
  const form = { endpoint: ada.endpoint.id, url: "http://localhost:9/", max_spam_score: "100" };
  const made = await ada.post("/dashboard/webhooks/new", form);
  expect(made.text).toMatch(/localhost is (?:127\.0\.0\.1|::1), and that is a loopback address/);
  const tested = await ada.post(`/dashboard/webhooks/${WEBHOOK_ID.exec(made.text)?.[0]}/test`);
  expect(tested.text).toMatch(/localhost is (?:127\.0\.0\.1|::1), and that is a loopback address/);
});
