import { expect, test } from "vitest";
import { browserOf, mailLink, replyAddressOf } from "../../src/dashboard/inbox/sender-facts.ts";
import { tryTime } from "../../src/dashboard/kit/time.ts";
import { listRead } from "../../src/submissions/stored/read-marks.ts";
import { addSubmission } from "../support/add-submission.ts";
import { addFormOwner } from "../support/form-owner.ts";
import { furnish } from "../support/owner-home.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

/** Ada is the operator; Ben and Cleo own a form each. */
async function world() {
  const server = await startServer({ webhooks: { allowNetworks: ["127.0.0.1"] } });
  await visit(server);
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  const add = (endpointId: string, data: Record<string, unknown>, more = {}): string =>
    addSubmission(server.owner, { endpointId, data, createdAt: server.clock.now(), ...more });
  return { server, ben, cleo, add };
}

test("fields stand in the order of the form, and what was sent besides follows", async () => {
  const { ben, add } = await world();
  const id = add(ben.endpoint.id, {
    zip: "75011",
    message: "Hello\nthere",
    email: "a@example.org",
    name: "Ana",
  });
  const { text } = await ben.get(`/dashboard/submissions/${id}`);
  const names = [...text.matchAll(/<dt><bdi>([\w ]+)<\/bdi><\/dt>/g)].map(([, name = ""]) => name);
  expect(names).toEqual(["name", "email", "message", "zip", "Network address", "Browser"]);
  expect(text).toContain("Hello\nthere");
});

test("the workspace is named to an operator if there are several, and to nobody else", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { id: endpointId } = await server.addEndpoint();
  const own = addSubmission(server.owner, { endpointId, data: goodPost });
  const named = "Workspace <bdi>";
  expect((await ada.get(`/dashboard/submissions/${own}`)).text).not.toContain(named);
  const ben = await addFormOwner(server, "ben@example.org");
  const his = addSubmission(server.owner, { endpointId: ben.endpoint.id, data: goodPost });
  for (const id of [own, his]) expect((await ada.get(`/dashboard/submissions/${id}`)).text).toContain(named);
  expect((await ben.get(`/dashboard/submissions/${his}`)).text).not.toContain(named);
});

test("the reasons are shown as a sum that adds up to the score", async () => {
  const { ben, add } = await world();
  const spamReasons = [
    { signal: "a", points: 40, field: "message", detail: "worded like spam" },
    { signal: "b", points: -9, field: null, detail: "reads like genuine mail" },
  ];
  const id = add(ben.endpoint.id, { message: "x" }, { spamScore: 31, spamReasons });
  const { text } = await ben.get(`/dashboard/submissions/${id}`);
  const points = [...text.matchAll(/<span class="(?:plus|minus)">([+−]\d+)<\/span>/g)].map(([, shown = ""]) =>
    Number(shown.replace("−", "-")),
  );
  expect(points).toEqual([40, -9]);
  expect(text).toContain('<li class="total"><span>31</span>');
  expect(text).toContain("31 · worth a look");
});

test("who opens a submission has read it, until it is marked unread; nobody else has", async () => {
  const { server, ben, cleo, add } = await world();
  const id = add(ben.endpoint.id, goodPost);
  const isRead = (accountId: string): boolean => server.owner.now(() => listRead(accountId, [id])).has(id);
  const head = await server.request({
    method: "HEAD",
    path: `/dashboard/submissions/${id}`,
    headers: { cookie: ben.cookie },
  });
  expect([head.status, isRead(ben.accountId)]).toEqual([200, false]);
  await ben.get(`/dashboard/submissions/${id}`);
  expect([isRead(ben.accountId), isRead(cleo.accountId)]).toEqual([true, false]);
  const done = await ben.post(`/dashboard/bulk?class=low&on=${id}`, { do: "unread", id });
  expect(done.headers["location"]).toBe("/dashboard?class=low&notice=did-unread&n=1");
  expect(isRead(ben.accountId)).toBe(false);
});

test("newer and older lead through the filter that the submission was reached from", async () => {
  const { ben, cleo, add } = await world();
  const own = ben.endpoint.id;
  const one = add(own, { message: "an oak table" });
  add(own, { message: "a question" });
  add(cleo.endpoint.id, { message: "an oak of somebody else" });
  const two = add(own, { message: "an oak chair" });
  const { text } = await ben.get(`/dashboard/submissions/${one}?q=oak`);
  expect(text).toContain(`href="/dashboard/submissions/${two}?q=oak" data-key="k"`);
  expect(text).not.toContain('data-key="j"');
  expect(text).toContain('href="/dashboard?q=oak">← Inbox');
  const last = await ben.get(`/dashboard/submissions/${two}?q=oak`);
  expect(last.text).toContain(`href="/dashboard/submissions/${one}?q=oak" data-key="j"`);
});

test("each message of the submission is shown with its attempts, and is sent again from here", async () => {
  const { server, ben } = await world();
  await using receiver = await startReceiverWith((response) =>
    response.writeHead(receiver.received.length > 1 ? 200 : 400).end(),
  );
  await ben.post("/dashboard/webhooks/new", {
    endpoint: ben.endpoint.id,
    url: receiver.url,
    max_spam_score: "100",
    allow_private: "on",
  });
  const id = String((await server.post(ben.endpoint.secret, goodPost)).json["submission_id"]);
  const attempts = (): number => Number(server.owner.prepare("SELECT count(*) FROM attempt").pluck().get());
  await until(() => attempts() > 0 || null);
  const path = `/dashboard/submissions/${id}?class=low`;
  const { text } = await ben.get(path);
  expect(text).toContain(new URL(receiver.url).host);
  expect(text).toMatch(/1 attempt · last <time/);
  const delivery = String(server.owner.prepare("SELECT id FROM delivery").pluck().get());
  const again = await ben.post(`/dashboard/submissions/${id}/replay?class=low`, { delivery });
  expect(again.headers["location"]).toBe(`${path}&notice=sent-again&n=1`);
  await until(() => receiver.received.length > 1 || null);
  expect(receiver.received[1]?.headers["webhook-id"]).toBe(delivery);
});

test("every submission shows its recipients in the same order", async () => {
  const server = await startServer();
  const home = await furnish(server, "ada@example.com");
  for (const webhook of ["0.example", "zz.example", "m.example"]) {
    const url = `http://${webhook}/`;
    server.owner.prepare("UPDATE webhook SET url = ? WHERE id = ?").run(url, home.webhookId);
    const { text } = await home.visitor.get(`/dashboard/submissions/${home.submissionIds[0]}`);
    const recipients = [...text.matchAll(/deliveries\/msg_\w+">([^<]+)</g)].map(([, name = ""]) => name);
    expect(recipients).toHaveLength(3);
    expect(recipients).toEqual(recipients.toSorted());
  }
});

test("what is late by more than a minute waits for its turn, and is not promised at any moment", () => {
  const now = 1_000_000_000;
  expect(String(tryTime(now - 60_001, now))).toBe("when its turn comes");
  for (const dueAt of [now - 60_000, now + 1])
    expect(String(tryTime(dueAt, now))).toContain('data-time="due"');
});

test("another workspace's submission or message is answered like one that does not exist", async () => {
  const { ben, cleo, add } = await world();
  const [own, others] = [add(ben.endpoint.id, goodPost), add(cleo.endpoint.id, goodPost)];
  const unknown = "sub_01h455vb4pex5vsknk084sn02q";
  const bare = (text: string): string => text.replace(/sub_\w+/g, "ID").replace(/Request <code>[^<]*/, "");
  const [foreign, nobodys] = [
    await ben.get(`/dashboard/submissions/${others}`),
    await ben.get(`/dashboard/submissions/${unknown}`),
  ];
  expect([foreign.status, bare(foreign.text)]).toEqual([404, bare(nobodys.text)]);
  const delivery = "msg_01h455vb4pex5vsknk084sn02q";
  for (const id of [own, others, unknown]) {
    expect((await ben.post(`/dashboard/submissions/${id}/replay`, { delivery })).status).toBe(404);
  }
});

test("thousands of fields of one post make a page that ends", async () => {
  const { ben, add } = await world();
  const data = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`field ${index}`, "x"]));
  const { status, text } = await ben.get(`/dashboard/submissions/${add(ben.endpoint.id, data)}`);
  expect([status, text.includes("2800 more fields are not shown.")]).toEqual([200, true]);
});

test.each([
  ["a@example.org", "a@example.org"],
  ["a+b@example.org", "a+b@example.org"],
  ["a@example.org,b@example.org", null],
  ["a@example.org?bcc=b@example.org", null],
  ["a@example.org&body=x", null],
  ["Ana <a@example.org>", null],
  ["a\u202E@example.org", null],
  ["javascript:alert(1)//a@b", null],
])("%j is answered at %j", (email, address) => {
  expect(replyAddressOf({ n: 1, email })).toBe(address);
});

test("a mail's link has one recipient and a subject in one line, whatever the form is called", () => {
  const letter = {
    address: "a+b@example.org",
    subject: "Re: Cafe\r\nBcc: x@example.org & more",
    quoted: " ",
  };
  expect(mailLink(letter)).toBe(
    "mailto:a%2Bb@example.org?subject=Re%3A%20Cafe%20Bcc%3A%20x%40example.org%20%26%20more",
  );
});

test.each([
  ["Two lines,\r\nand &bcc=x@example.org", "\r\n\r\n> Two lines,\r\n> and &bcc=x@example.org"],
  ["\u202Eturned\u0000\ud800", "\r\n\r\n> turned\ufffd"],
])("a mail's link quotes %j, line by line", (quoted, body) => {
  const link = mailLink({ address: "a@example.org", subject: "Re", quoted });
  expect(link.slice(0, link.indexOf("&"))).toBe("mailto:a@example.org?subject=Re");
  expect([...new URL(link).searchParams]).toEqual([
    ["subject", "Re"],
    ["body", body],
  ]);
});

test.each(["a", "\n", "語", "😀"])(
  "a mail's link cuts 64 KiB of %j, so that mail programs take it",
  (char) => {
    const link = mailLink({ address: "a@example.org", subject: "Re", quoted: `x${char.repeat(65_536)}x` });
    expect(link.length).toBeLessThan(1600);
    expect(new URL(link).searchParams.get("body")).toMatch(/^\r\n\r\n> x.*…$/su);
  },
);

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox 140 on Linux"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0",
    "Edge 138 on Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
    "Safari 18 on iPhone",
  ],
  ["curl/8.9.1", "curl/8.9.1"],
  ["\u001b[31mred", "[31mred"],
  ["", null],
])("the browser of %j is %j", (userAgent, shown) => {
  expect(browserOf(userAgent)).toBe(shown);
});
