import { expect, test } from "vitest";
import { findSignatureProblem, secretKey } from "../../src/webhooks/sign.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { startReceiverWith, type TestReceiver } from "../support/receivers.ts";
import { goodPost, startServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";
import { makeEndpoint } from "../support/terminal.ts";

const WEBHOOK_ID = /\bwh_[0-9a-z]{26}\b/;
const SECRET = /whsec_[A-Za-z0-9+/]{43}=/;

/** A server with an endpoint of the operator's, who is signed in. */
async function begin(): Promise<{ server: TestServer; ada: Visitor; endpoint: TestEndpoint }> {
  const server = await startServer();
  const ada = await visit(server);
  return { server, ada, endpoint: await server.addEndpoint() };
}

/** Adds a webhook by the form; its id and secret. */
async function add(visitor: Visitor, form: Record<string, string>): Promise<{ id: string; secret: string }> {
  const { status, text } = await visitor.post("/dashboard/webhooks/new", { max_spam_score: "100", ...form });
  expect(status, text).toBe(201);
  return { id: WEBHOOK_ID.exec(text)?.[0] ?? "", secret: SECRET.exec(text)?.[0] ?? "" };
}

/** What a receiver with this secret finds wrong; null if the message is genuine. */
function problemWith(message: TestReceiver["received"][number] | undefined, secret: string, now: number) {
  const header = (name: string) => String(message?.headers[name]);
  const signed = {
    id: header("webhook-id"),
    timestamp: header("webhook-timestamp"),
    body: message?.body ?? Buffer.alloc(0),
  };
  return findSignatureProblem(signed, header("webhook-signature"), [secretKey(secret)], now);
}

/** The one message of a webhook, when an attempt has ended. */
async function firstMessage(server: TestServer): Promise<string> {
  return until(
    () => server.owner.prepare("SELECT delivery_id FROM attempt").pluck().get() as string | undefined,
  );
}

/** An endpoint of somebody else's, with a webhook. */
async function addStranger(
  server: TestServer,
): Promise<{ eve: Visitor; endpointId: string; webhookId: string }> {
  const { owner, clock, config } = server;
  const { workspace } = owner.now(() => insertAccountRows("eve@example.com", clock.now()));
  const made = { name: "Theirs", definition: {}, settings: defaultEndpointSettings };
  const place = { workspace: workspace.id, plans: config.plans, now: clock.now() };
  const { endpoint } = await makeEndpoint(owner, made, place);
  const eve = await visit(server, "eve@example.com");
  const { id } = await add(eve, { endpoint: endpoint.id, url: "https://example.com/theirs" });
  return { eve, endpointId: endpoint.id, webhookId: id };
}

test("a webhook is added by the form, its secret is shown once, and what it gets verifies with that secret", async () => {
  const { server, ada, endpoint } = await begin();
  await using receiver = await startReceiverWith((response) => response.end());
  const { id, secret } = await add(ada, { endpoint: endpoint.id, url: receiver.url, allow_private: "on" });
  await server.post(endpoint.secret, goodPost);
  const [message] = await until(() => (receiver.received.length > 0 ? receiver.received : null));
  expect(problemWith(message, secret, server.clock.now())).toBeNull();
  for (const path of [
    "/dashboard/notifications",
    `/dashboard/webhooks/${id}`,
    `/dashboard/webhooks/${id}/edit`,
  ]) {
    const { status, text } = await ada.get(path);
    expect(status).toBe(200);
    expect(text).not.toContain(secret);
  }
});

test("headers of one's own are sent, and their values are on no page, in no log line and in no recorded change", async () => {
  const { server, ada, endpoint } = await begin();
  await using receiver = await startReceiverWith((response) => response.end());
  const headers = "Authorization: Bearer hidden-value\r\nX-Form: contact";
  const { id } = await add(ada, { endpoint: endpoint.id, url: receiver.url, headers, allow_private: "on" });
  await ada.post(`/dashboard/webhooks/${id}/test`);
  expect(receiver.received[0]?.headers).toMatchObject({
    authorization: "Bearer hidden-value",
    "x-form": "contact",
  });
  const shown = (await ada.get(`/dashboard/webhooks/${id}`)).text;
  expect(shown).toContain("authorization, x-form");
  const edit = (await ada.get(`/dashboard/webhooks/${id}/edit`)).text;
  const recorded = JSON.stringify(server.owner.prepare("SELECT * FROM audit_event").all());
  expect(recorded).toContain(`"webhook.create"`);
  expect(shown + edit + server.log.join("") + recorded).not.toContain("hidden-value");
});

test("a form that is refused keeps what was typed and names each problem at its field", async () => {
  const { ada, endpoint } = await begin();
  const { status, text } = await ada.post("/dashboard/webhooks/new", {
    endpoint: endpoint.id,
    url: "ftp://example.com/",
    headers: "Host: x",
    max_spam_score: "101",
  });
  expect(status).toBe(422);
  expect(text).toContain('value="ftp://example.com/"');
  expect(text).toContain("Host: x");
  for (const problem of [
    "must begin with https://",
    "The header host is formsvc",
    "a whole number from 0 to 100",
  ])
    expect(text.match(new RegExp(problem, "g"))).toHaveLength(2);
});

test("only an operator can let a webhook reach private addresses, or move one that may", async () => {
  const { server } = await begin();
  const { eve, endpointId, webhookId } = await addStranger(server);
  const allowed = (id: string) =>
    server.owner.prepare("SELECT allow_private FROM webhook WHERE id = ?").pluck().get(id);
  const made = await eve.post("/dashboard/webhooks/new", {
    endpoint: endpointId,
    url: "http://127.0.0.1:9/",
    allow_private: "on",
    max_spam_score: "100",
  });
  expect(made.text).toContain("Nothing is sent there: the name does not exist");
  expect(made.text).toContain("ask the operator");
  expect(allowed(WEBHOOK_ID.exec(made.text)?.[0] ?? "")).toBe(0);
  server.owner.execute(`UPDATE webhook SET allow_private = 1 WHERE id = '${webhookId}'`);
  const path = `/dashboard/webhooks/${webhookId}/edit`;
  const seen = /name="seen" value="([^"]+)"/.exec((await eve.get(path)).text)?.[1] ?? "";
  const moved = await eve.post(path, { url: "http://192.168.0.1/", max_spam_score: "100", seen });
  expect([moved.status, moved.text.includes("only an operator")]).toEqual([422, true]);
  expect(
    (await eve.post(path, { url: "https://example.com/theirs", max_spam_score: "40", seen })).status,
  ).toBe(303);
  expect(allowed(webhookId)).toBe(1);
});

test("why a message failed is said with what to do, however hostile the receiver's answer is, and it is sent again", async () => {
  const { server, ada, endpoint } = await begin();
  let status = 401;
  const hostile = `</pre><script>alert(1)</script>\u202e${"<img src=x onerror=alert(2)>".repeat(3000)}`;
  await using receiver = await startReceiverWith((response) => {
    response.statusCode = status;
    response.end(status === 401 ? hostile : "");
  });
  const { id } = await add(ada, { endpoint: endpoint.id, url: receiver.url, allow_private: "on" });
  await server.post(endpoint.secret, goodPost);
  const message = await firstMessage(server);
  const path = `/dashboard/webhooks/${id}/deliveries/${message}`;
  const { text } = await ada.get(path);
  expect(text).toContain("401");
  expect(text).toContain("The receiver wants a password or token");
  expect(text).toContain("&lt;/pre&gt;&lt;script&gt;alert(1)");
  expect(text).not.toMatch(/<script>|<img/);
  expect(text.length).toBeLessThan(60_000);
  const list = (await ada.get(`/dashboard/webhooks/${id}?state=pending`)).text;
  expect(list).toContain("Answered 401.");
  expect((await ada.get(`/dashboard/webhooks/${id}?state=delivered`)).text).toContain(
    "No messages in this state",
  );
  status = 200;
  const again = await ada.post(`${path}/replay`);
  expect(again.headers["location"]).toBe(`${path}?notice=sent-again&n=1`);
  await until(() => server.owner.prepare("SELECT 1 FROM delivery WHERE state = 'delivered'").get());
  expect((await ada.get(path)).text).toContain("Delivered");
});

test("all messages that were given up, or the chosen ones, are sent again", async () => {
  const { server, ada, endpoint } = await begin();
  await using receiver = await startReceiverWith((response) => response.end());
  const { id } = await add(ada, { endpoint: endpoint.id, url: receiver.url, allow_private: "on" });
  for (let count = 0; count < 3; count += 1) await server.post(endpoint.secret, goodPost);
  const states = () => server.owner.prepare("SELECT state FROM delivery").pluck().all();
  await until(() => states().length === 3 && states().every((state) => state === "delivered"));
  server.owner.execute("UPDATE delivery SET state = 'failed'");
  expect((await ada.get("/dashboard/notifications")).text).toContain("3 given up");
  const [one = "", two = ""] = server.owner.prepare("SELECT id FROM delivery").pluck().all() as string[];
  const chosen = new URLSearchParams([
    ["which", "chosen"],
    ["id", one],
    ["id", two],
  ]);
  const some = await ada.post(`/dashboard/webhooks/${id}/replay`, chosen);
  expect(some.headers["location"]).toContain("notice=sent-again&n=2");
  await until(() => receiver.received.length === 5);
  server.clock.advance(1000);
  const rest = await ada.post(`/dashboard/webhooks/${id}/replay`, { which: "failed" });
  expect(rest.headers["location"]).toContain("n=1");
  await until(() => receiver.received.length === 6);
});

test("sending is paused and started again, and what came meanwhile is sent", async () => {
  const { server, ada, endpoint } = await begin();
  await using receiver = await startReceiverWith((response) => response.end());
  const { id } = await add(ada, { endpoint: endpoint.id, url: receiver.url, allow_private: "on" });
  expect((await ada.post(`/dashboard/webhooks/${id}/disable`)).headers["location"]).toContain(
    "sending-paused",
  );
  await server.post(endpoint.secret, goodPost);
  expect((await ada.get("/dashboard/notifications")).text).toMatch(/Paused[\s\S]*1 kept/);
  expect(receiver.received).toHaveLength(0);
  await ada.post(`/dashboard/webhooks/${id}/enable`);
  await until(() => receiver.received.length === 1);
});

test("a new secret is shown once, and the old one signs beside it", async () => {
  const { server, ada, endpoint } = await begin();
  await using receiver = await startReceiverWith((response) => response.end());
  const { id, secret: old } = await add(ada, {
    endpoint: endpoint.id,
    url: receiver.url,
    allow_private: "on",
  });
  const { status, text } = await ada.post(`/dashboard/webhooks/${id}/rotate-secret`);
  expect(status).toBe(201);
  const fresh = SECRET.exec(text)?.[0] ?? "";
  await server.post(endpoint.secret, goodPost);
  const [message] = await until(() => (receiver.received.length > 0 ? receiver.received : null));
  for (const secret of [old, fresh]) expect(problemWith(message, secret, server.clock.now())).toBeNull();
  expect(fresh).not.toBe(old);
});

test("of two people who change the same webhook, the second is told, and nothing is overwritten", async () => {
  const { ada, endpoint } = await begin();
  const { id } = await add(ada, { endpoint: endpoint.id, url: "https://example.com/a" });
  const path = `/dashboard/webhooks/${id}/edit`;
  const seen = /name="seen" value="([^"]+)"/.exec((await ada.get(path)).text)?.[1] ?? "";
  const save = (url: string, mark: string) => ada.post(path, { url, max_spam_score: "100", seen: mark });
  expect((await save("https://example.com/first", seen)).status).toBe(303);
  const second = await save("https://example.com/second", seen);
  expect(second.status).toBe(422);
  expect(second.text).toContain("Somebody else changed this webhook");
  expect(second.text).toContain("https://example.com/second");
  expect((await ada.get(`/dashboard/webhooks/${id}`)).text).toContain("https://example.com/first");
  const anew = /name="seen" value="([^"]+)"/.exec(second.text)?.[1] ?? "";
  expect((await save("https://example.com/second", anew)).status).toBe(303);
});

test("a webhook is deleted after a question, and is then not there", async () => {
  const { ada, endpoint } = await begin();
  const { id } = await add(ada, { endpoint: endpoint.id, url: "https://example.com/a" });
  expect((await ada.get(`/dashboard/webhooks/${id}/delete`)).text).toContain("Delete this webhook?");
  expect((await ada.post(`/dashboard/webhooks/${id}/delete`)).headers["location"]).toContain(
    "webhook-deleted",
  );
  expect((await ada.get(`/dashboard/webhooks/${id}`)).status).toBe(404);
});

test("another workspace's webhook and messages are on each route like those that do not exist, and are on no list", async () => {
  const { server, ada, endpoint } = await begin();
  await using receiver = await startReceiverWith((response) => response.end());
  const { id } = await add(ada, { endpoint: endpoint.id, url: receiver.url, allow_private: "on" });
  await server.post(endpoint.secret, goodPost);
  const message = await firstMessage(server);
  const { eve, webhookId: own } = await addStranger(server);
  const nobody = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  const before = JSON.stringify(server.owner.prepare("SELECT * FROM webhook, recipient, delivery").all());
  const reads = ["", "/edit", "/rotate-secret", "/delete", `/deliveries/${message}`];
  const writes = [
    "/test",
    "/enable",
    "/disable",
    "/edit",
    "/rotate-secret",
    "/delete",
    "/replay",
    `/deliveries/${message}/replay`,
  ];
  const form = { url: "https://example.com/x", max_spam_score: "1", which: "failed" };
  const plain = (text: string, webhookId: string) =>
    text.replaceAll(webhookId, "ID").replace(/Request <code>[^<]*/, "");
  for (const rest of reads) {
    const [theirs, none] = [
      await eve.get(`/dashboard/webhooks/${id}${rest}`),
      await eve.get(`/dashboard/webhooks/${nobody}${rest}`),
    ];
    expect([theirs.status, plain(theirs.text, id)], rest).toEqual([404, plain(none.text, nobody)]);
  }
  for (const rest of writes) {
    const [theirs, none] = [
      await eve.post(`/dashboard/webhooks/${id}${rest}`, form),
      await eve.post(`/dashboard/webhooks/${nobody}${rest}`, form),
    ];
    expect([theirs.status, plain(theirs.text, id)], rest).toEqual([404, plain(none.text, nobody)]);
  }
  // Their message, reached by a webhook of one's own.
  expect((await eve.get(`/dashboard/webhooks/${own}/deliveries/${message}`)).status).toBe(404);
  expect((await eve.post(`/dashboard/webhooks/${own}/replay`, { which: "chosen", id: message })).status).toBe(
    404,
  );
  const { status } = await eve.post("/dashboard/webhooks/new", { ...form, endpoint: endpoint.id });
  expect(status).toBe(404);
  expect((await eve.get("/dashboard/notifications")).text).not.toContain(id);
  expect(JSON.stringify(server.owner.prepare("SELECT * FROM webhook, recipient, delivery").all())).toBe(
    before,
  );
});

test("a chat is added by the form, has no secret, and its address is never shown whole", async () => {
  const { ada, endpoint } = await begin();
  const url = "https://hooks.slack.com/services/T0/B0/unguessableABCD";
  const { id, secret } = await add(ada, { endpoint: endpoint.id, format: "slack", url });
  expect(secret).toBe("");
  for (const path of ["", "/edit"]) {
    const { status, text } = await ada.get(`/dashboard/webhooks/${id}${path}`);
    expect([status, text]).toEqual([200, expect.stringContaining("https://hooks.slack.com/…ABCD")]);
    expect(text).not.toContain("unguessable");
  }
  const { text: form } = await ada.get(`/dashboard/webhooks/${id}/edit`);
  const seen = /name="seen" value="([^"]*)"/.exec(form)?.[1] ?? "";
  // An empty address keeps the one that it has.
  const changed = await ada.post(`/dashboard/webhooks/${id}/edit`, { seen, url: "", max_spam_score: "50" });
  expect(changed.status).toBe(303);
  expect((await ada.get(`/dashboard/webhooks/${id}`)).text).toContain("…ABCD");
});

test("an address that the chat's service cannot have is named at its field", async () => {
  const { ada, endpoint } = await begin();
  const form = {
    endpoint: endpoint.id,
    format: "telegram",
    url: "https://api.telegram.org/",
    max_spam_score: "100",
  };
  const { status, text } = await ada.post("/dashboard/webhooks/new", form);
  expect(status).toBe(422);
  expect(text).toContain("chat_id=&lt;CHAT&gt;");
  expect(text).toMatch(/<option value="telegram"\s+selected>/);
});

test.each([
  ["https://hooks.slack.com/services/T0/B0/unguessableABCD", "Slack"],
  ["https://discord.com/api/webhooks/1/unguessableABCD", "Discord"],
  ["https://chat.googleapis.com/v1/spaces/a/messages?key=k&token=t", "Google Chat"],
])(
  "the address of a chat is not taken for a program's, because pages would show it whole: %s",
  async (url, chat) => {
    const server = await startServer();
    const ada = await visit(server);
    const { id } = await server.addEndpoint();
    const form = { endpoint: id, format: "standard", url, max_spam_score: "100" };
    const { status, text } = await ada.post("/dashboard/webhooks/new", form);
    expect(status).toBe(422);
    expect(text).toMatch(new RegExp(`id="f-format-problem">The address is one of ${chat}: choose that`));
    expect(server.owner.prepare("SELECT count(*) FROM webhook").pluck().get()).toBe(0);
  },
);

test("an operator’s webhook to a private address that is refused is not said to work, but that nothing is sent there and what to do", async () => {
  const { server, ada, endpoint } = await begin();
  const url = "http://10.1.2.3/hook";
  const { id } = await add(ada, { endpoint: endpoint.id, url });
  const path = `/dashboard/webhooks/${id}`;
  for (const shown of [path, "/dashboard/notifications"]) {
    const { text } = await ada.get(shown);
    expect(text).toContain(">Refused<");
    expect(text).not.toContain(">Working<");
  }
  const { text } = await ada.get(path);
  expect(text).toContain("Nothing will be sent there: 10.1.2.3 is a private address.");
  expect(text).toContain("Tick “Allow private addresses”");
  const local = await add(ada, { endpoint: endpoint.id, url: "http://localhost:5678/hook" });
  expect((await ada.get(`/dashboard/webhooks/${local.id}`)).text).toContain(">Refused<");
  server.owner.execute(`UPDATE webhook SET allow_private = 1 WHERE id = '${id}'`);
  expect((await ada.get(path)).text).toContain(">Ready<");
});

test("a webhook that nothing was sent to yet is not said to work, and whoever is no operator reads the same of each address", async () => {
  const { server, ada, endpoint } = await begin();
  const { eve, endpointId } = await addStranger(server);
  await using receiver = await startReceiverWith((response) => response.end());
  const shown = async (visitor: Visitor, id: string) => {
    const { text } = await visitor.get(`/dashboard/webhooks/${id}`);
    return /<h2>Health<\/h2>.*?<\/section>/s.exec(text)?.[0];
  };
  const good = await add(eve, { endpoint: endpointId, url: "https://example.com/hook" });
  const local = await add(eve, { endpoint: endpointId, url: "http://10.1.2.3/hook" });
  expect(await shown(eve, good.id)).toContain("Nothing was sent to it lately.");
  expect(await shown(eve, local.id)).toBe(await shown(eve, good.id));
  const { id } = await add(ada, { endpoint: endpoint.id, url: receiver.url, allow_private: "on" });
  await server.post(endpoint.secret, goodPost);
  await firstMessage(server);
  for (const path of [`/dashboard/webhooks/${id}`, "/dashboard/notifications"])
    expect((await ada.get(path)).text).toContain(">Working<");
  expect((await eve.get("/dashboard/notifications")).text).not.toContain(">Working<");
});
