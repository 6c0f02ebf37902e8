import { expect, test } from "vitest";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { pathIn, startMailedSite, textOf } from "../support/mailed-site.ts";
import { formOf } from "../support/page.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { PASSWORD } from "../support/sign-in-form.ts";
import { startScriptedServer } from "../support/smtp-servers.ts";
import { until } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";

const HOLDER = "holder@example.org";
const NEW = "/dashboard/recipients/new";

/** A server that sends e-mail, with an endpoint of the operator's, who is signed in. */
async function begin() {
  const site = await startMailedSite();
  const ada = await visit(site.server);
  return { ...site, ada, endpoint: await site.server.addEndpoint() };
}

/** Adds a recipient by the form. Returns the path of its page. */
async function add(visitor: Visitor, endpoint: string, address = HOLDER): Promise<string> {
  const { values } = formOf((await visitor.get(NEW)).text, NEW);
  values.set("endpoint", endpoint);
  values.set("address", address);
  const { status, headers, text } = await visitor.post(NEW, values);
  expect(status, text).toBe(303);
  return String(headers["location"]).split("?")[0] ?? "";
}

test("an address that is added gets a question, and submissions only after its holder agreed", async () => {
  const { server, ada, endpoint, mail, get, letterTo } = await begin();
  const path = await add(ada, endpoint.id);
  const question = await letterTo(HOLDER);
  expect(textOf(question)).toContain("wants to send its submissions to this address");
  expect((await ada.get(path)).text).toContain("Not agreed yet");
  await server.post(endpoint.secret, goodPost);
  const link = pathIn(question);
  expect((await get(link)).status).toBe(200);
  expect((await server.request({ method: "POST", path: link })).status).toBeLessThan(400);
  await server.post(endpoint.secret, goodPost);
  await letterTo(HOLDER, 2);
  await until(() => server.owner.prepare("SELECT 1 FROM delivery WHERE state = 'delivered'").get());
  expect(mail.received.filter(({ to }) => to.includes(HOLDER))).toHaveLength(2);
  const page = (await ada.get(path)).text;
  expect(page).toContain("Working");
  expect(page).toContain("Delivered");
  expect((await ada.get("/dashboard/notifications")).text).toMatch(/holder@example\.org[\s\S]*Working/);
  const id = String(server.owner.prepare("SELECT submission_id FROM delivery").pluck().get());
  const submission = (await ada.get(`/dashboard/submissions/${id}`)).text;
  expect(submission).toMatch(/\/dashboard\/recipients\/rcpt_\w+\/deliveries\/msg_\w+">holder@example\.org/);
});

test("nobody is asked about the address of their own account, once they have shown to read its mail", async () => {
  const { server, ada, endpoint, mail, letterTo, fill, get } = await begin();
  const ask = await add(ada, endpoint.id, "ada@example.com");
  expect((await ada.get(ask)).text).toContain("Not agreed yet");
  await letterTo("ada@example.com");
  await ada.post(`${ask}/delete`);
  // The link of a letter shows it, and a link that was made on the machine did not.
  await fill("/dashboard/lost-password", { email: "ada@example.com" });
  const link = pathIn(await letterTo("ada@example.com", 2));
  expect((await get(link)).status).toBe(200);
  expect((await fill(link, { new_password: PASSWORD })).status).toBe(303);
  const again = await visit(server);
  const letters = mail.received.length;
  const path = await add(again, endpoint.id, "Ada@Example.com");
  expect((await again.get(path)).text).not.toContain("Not agreed yet");
  await server.post(endpoint.secret, goodPost);
  await until(() => mail.received.length > letters);
  expect(textOf(mail.received.at(-1)!)).not.toContain("wants to send its submissions");
  const other = await add(again, endpoint.id, "ben@example.com");
  expect((await again.get(other)).text).toContain("Not agreed yet");
});

test("messages that wait for others say so, and when they go", async () => {
  const { server, ada, endpoint } = await begin();
  const path = await add(ada, endpoint.id);
  server.owner.execute("UPDATE recipient SET confirmed_at = 1");
  for (let count = 0; count < 12; count += 1) await server.post(endpoint.secret, goodPost);
  const count = "SELECT count(*) FROM delivery WHERE state = 'delivered' OR due_at > ?";
  await until(() => server.owner.prepare(count).pluck().get(server.clock.now()) === 12);
  const list = (await ada.get(path)).text;
  expect(list.match(/>Gathered<\/span>[\s\S]*?with others/g)).toHaveLength(2);
  expect(list).toMatch(/2 messages are gathered, and go as one e-mail\s+<time/);
  expect((await ada.get("/dashboard/notifications")).text).toContain("2 gathered");
  const waiting = "SELECT id, submission_id FROM delivery WHERE state = 'pending'";
  const [id, submissionId] = server.owner.prepare(waiting).raw().get() as [string, string];
  for (const page of [`${path}/deliveries/${id}`, `/dashboard/submissions/${submissionId}`]) {
    const { text } = await ada.get(page);
    expect(text).toContain("Gathered");
    expect(text).not.toContain("Send again");
  }
});

test("messages that went in one summary say so, and have the number and the attempts of their e-mail", async () => {
  const { server, ada, endpoint } = await begin();
  const path = await add(ada, endpoint.id);
  server.owner.execute("UPDATE recipient SET confirmed_at = 1");
  for (let count = 0; count < 3; count += 1) await server.post(endpoint.secret, goodPost);
  const ids = await until(() => {
    const sent = "SELECT id FROM delivery WHERE state = 'delivered' ORDER BY id";
    const found = server.owner.prepare(sent).pluck().all() as string[];
    return found.length === 3 && found;
  });
  const [lead = "", member = ""] = ids;
  server.owner.execute(`UPDATE delivery SET lead_id = '${lead}' WHERE id > '${lead}'`);
  server.owner.execute(`DELETE FROM attempt WHERE delivery_id > '${lead}'`);
  expect((await ada.get(path)).text.match(/in a summary with 2 others/g)).toHaveLength(3);
  const { text } = await ada.get(`${path}/deliveries/${member}`);
  expect(text).toContain("in a summary with 2 others");
  expect(text).toMatch(new RegExp(`<dd class="mono">${lead}</dd>[\\s\\S]*Attempt 1`));
});

test("a question that the mail server does not take is told with its words, and what to do", async () => {
  const scripted = await startScriptedServer({ RCPT: "550 5.1.1 no <such> user" });
  const server = await startServer({
    server: { port: 0, baseUrl: "https://forms.example.com" },
    mail: { host: "127.0.0.1", port: scripted.port, from: "forms@example.com" },
  });
  const ada = await visit(server);
  const path = await add(ada, (await server.addEndpoint()).id, "hodler@example.org");
  const refused = await until(async () => {
    const { text } = await ada.get(path);
    return text.includes("The e-mail that asks was not sent") && text;
  });
  expect(refused).toContain("550 5.1.1 no &lt;such&gt; user");
  expect(refused).toContain("Check its spelling");
  scripted.play({});
  await ada.post(`${path}/ask`);
  await until(async () => !(await ada.get(path)).text.includes("was not sent"));
});

test("the question is sent again as often as the holder can bear, and a refused one leaves the last link working", async () => {
  const { server, ada, endpoint, letterTo, get } = await begin();
  const path = await add(ada, endpoint.id);
  await letterTo(HOLDER, 1);
  const ask = async () => String((await ada.post(`${path}/ask`)).headers["location"]);
  expect(await ask()).toContain("recipient-asked");
  await letterTo(HOLDER, 2);
  expect(await ask()).toContain("recipient-asked");
  const last = pathIn(await letterTo(HOLDER, 3));
  expect(await ask()).toContain("recipient-not-asked");
  expect((await get(last)).status).toBe(200);
  const asked = server.owner
    .prepare("SELECT count(*) FROM audit_event WHERE action = 'recipient.ask' AND account_id IS NOT NULL")
    .pluck()
    .get();
  expect(asked).toBe(3);
});

test("one account has at most 20 holders asked within an hour, so that nobody mails strangers by this server", async () => {
  const { server, ada, endpoint } = await begin();
  const other = await server.addEndpoint();
  const notices: string[] = [];
  for (let number = 0; number < 21; number += 1) {
    const { id } = number < 20 ? endpoint : other;
    const address = `holder${number}@example.org`;
    const { headers } = await ada.post(NEW, { endpoint: id, address, max_spam_score: "50" });
    notices.push(String(headers["location"]).split("notice=")[1] ?? "");
  }
  expect(notices).toEqual([...Array.from({ length: 20 }, () => "recipient-asked"), "recipient-not-asked"]);
});

test("a form that is refused keeps what was typed and names each problem at its field", async () => {
  const { ada, endpoint } = await begin();
  const { status, text } = await ada.post(NEW, {
    endpoint: endpoint.id,
    address: "Ada <ada@example.com>",
    digest: "daily",
    max_spam_score: "101",
    subject: "x".repeat(201),
  });
  expect(status).toBe(422);
  expect(text).toContain('value="Ada &lt;ada@example.com&gt;"');
  expect(text).toMatch(/<option value="daily"\s+selected>/);
  for (const problem of [
    "not an address that every mail",
    "a whole number from 0 to 100",
    "1 to 200 characters",
  ])
    expect(text.match(new RegExp(problem, "g"))).toHaveLength(2);
  await add(ada, endpoint.id);
  const again = await ada.post(NEW, { endpoint: endpoint.id, address: HOLDER, max_spam_score: "50" });
  expect([again.status, again.text]).toEqual([
    422,
    expect.stringContaining("is a recipient of the form with the same conditions already"),
  ]);
});

test("of two people who change the same recipient, the second is told, and nothing is overwritten", async () => {
  const { ada, endpoint } = await begin();
  const path = await add(ada, endpoint.id);
  const { values } = formOf((await ada.get(`${path}/edit`)).text, `${path}/edit`);
  const save = (digest: string) => {
    const form = new URLSearchParams(values);
    form.set("digest", digest);
    return ada.post(`${path}/edit`, form);
  };
  expect((await save("hourly")).status).toBe(303);
  const second = await save("daily");
  expect([second.status, second.text]).toEqual([
    422,
    expect.stringContaining("Somebody else changed this recipient"),
  ]);
  expect((await ada.get(path)).text).toContain("Once an hour");
});

test("a box on the recipient's form attaches files or not, and its page says so", async () => {
  const { ada, endpoint } = await begin();
  const path = await add(ada, endpoint.id);
  expect((await ada.get(path)).text).toContain("named, with a link");
  const save = async (attach: boolean) => {
    const form = new URLSearchParams(formOf((await ada.get(`${path}/edit`)).text, `${path}/edit`).values);
    form.delete("attach");
    if (attach) form.set("attach", "on");
    expect((await ada.post(`${path}/edit`, form)).status).toBe(303);
    const { values } = formOf((await ada.get(`${path}/edit`)).text, `${path}/edit`);
    return [
      new URLSearchParams(values).get("attach"),
      (await ada.get(path)).text.includes("attached, under 5 MB"),
    ];
  };
  expect(await save(true)).toEqual(["on", true]);
  expect(await save(false)).toEqual([null, false]);
});

test("who unsubscribed cannot be sent to again by anybody but themselves", async () => {
  const { server, ada, endpoint } = await begin();
  const path = await add(ada, endpoint.id);
  server.owner.execute("UPDATE recipient SET confirmed_at = 1, state = 'disabled'");
  server.owner.execute("UPDATE mail_recipient SET unsubscribed_at = 1000");
  const { text } = await ada.get(path);
  expect(text).toContain("Unsubscribed");
  expect(text).not.toContain(`${path}/enable`);
  expect((await ada.post(`${path}/enable`)).status).toBe(409);
  expect((await ada.post(`${path}/ask`)).status).toBe(409);
});

test("without a mail server, operators read what to configure, and owners whom to ask", async () => {
  const server = await startServer();
  const ada = await visit(server);
  await server.addEndpoint();
  server.owner.now(() => insertAccountRows("eve@example.com", server.clock.now()));
  const eve = await visit(server, "eve@example.com");
  for (const path of ["/dashboard/notifications", NEW]) {
    expect((await ada.get(path)).text).toContain(
      "Write mail.host, mail.from and server.baseUrl into the configuration",
    );
    const { text } = await eve.get(path);
    expect(text).toContain("E-mail is not set up on this server. Ask whoever runs it.");
    expect(text).not.toContain("mail.host");
  }
  const { status } = await ada.post(NEW, { endpoint: "x", address: HOLDER, max_spam_score: "50" });
  expect(status).toBe(503);
});

test("another workspace's recipient is on each route like one that does not exist, and is on no list", async () => {
  const { server, ada, endpoint, letterTo } = await begin();
  const path = await add(ada, endpoint.id);
  // Its link is made by then.
  await letterTo(HOLDER);
  server.owner.now(() => insertAccountRows("eve@example.com", server.clock.now()));
  const eve = await visit(server, "eve@example.com");
  const nobody = path.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  const form = { digest: "daily", max_spam_score: "1", which: "failed" };
  const plain = (text: string, own: string) =>
    text.replaceAll(own.split("/").at(-1) ?? "", "ID").replace(/Request <code>[^<]*/, "");
  const before = JSON.stringify(server.owner.prepare("SELECT * FROM mail_recipient, recipient").all());
  const asks = [
    ...["", "/edit", "/delete"].map((rest) => [rest, (of: string) => eve.get(of + rest)] as const),
    ...["/ask", "/test", "/enable", "/disable", "/edit", "/delete", "/replay"].map(
      (rest) => [rest, (of: string) => eve.post(of + rest, form)] as const,
    ),
  ];
  for (const [rest, ask] of asks) {
    const [theirs, none] = [await ask(path), await ask(nobody)];
    expect([theirs.status, plain(theirs.text, path)], rest).toEqual([404, plain(none.text, nobody)]);
  }
  const taken = await eve.post(NEW, { ...form, endpoint: endpoint.id, address: "eve@example.com" });
  expect(taken.status).toBe(404);
  expect((await eve.get("/dashboard/notifications")).text).not.toContain(HOLDER);
  expect(JSON.stringify(server.owner.prepare("SELECT * FROM mail_recipient, recipient").all())).toBe(before);
});
