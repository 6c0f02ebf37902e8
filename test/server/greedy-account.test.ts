import { expect, test } from "vitest";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { addWebhooks } from "../support/add-webhooks.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import {
  goodPost,
  launchServer,
  startServer,
  type TestEndpoint,
  type TestServer,
} from "../support/test-server.ts";
import { until } from "../support/until.ts";

/** As slow as a receiver may be without failing. */
const SLOW_MS = 9000;
/** What most messages take on a busy machine, far below {@link SLOW_MS}. */
const PROMPT_MS = 4000;

/** Posts, and how long until what it causes is there. */
async function timed(server: TestServer, { secret }: TestEndpoint, isThere: () => boolean): Promise<number> {
  const startedAt = performance.now();
  expect((await server.post(secret, goodPost)).status).toBe(200);
  await until(isThere);
  return performance.now() - startedAt;
}

/** The median of the times of one post after the other. */
async function typically(posts: number, timePost: (post: number) => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let post = 1; post <= posts; post += 1) times.push(await timePost(post));
  return times.toSorted((one, two) => one - two)[Math.floor(posts / 2)] ?? Infinity;
}

test("an account whose 60 receivers take 9 s each delays no webhook of another account", async () => {
  const server = await startServer();
  const greedy = [await server.addEndpoint(), await server.addEndpoint(), await server.addEndpoint()];
  const other = await server.addEndpoint({ plan: "pro" });
  await using all = new AsyncDisposableStack();
  let underWay = 0;
  for (let index = 0; index < 60; index += 1) {
    const slow = await startReceiverWith((response) => {
      underWay += 1;
      setTimeout(() => response.end(), SLOW_MS);
    });
    all.use(slow);
    await server.owner.transaction(() => addWebhooks(greedy[index % 3]!.id, slow.url, 1));
  }
  const fast = all.use(await startReceiverWith((response) => response.end()));
  await server.owner.transaction(() => addWebhooks(other.id, fast.url, 1));
  for (let post = 0; post < 3; post += 1)
    for (const { secret } of greedy) await server.post(secret, goodPost);
  await until(() => underWay >= 60);
  const promptly = await typically(5, (post) => timed(server, other, () => fast.received.length >= post));
  expect(promptly).toBeLessThan(PROMPT_MS);
}, 60_000);

test("what one account changes in a loop, beside thousands of recipients, hides no new recipient of another account", async () => {
  const server = await launchServer({ rateLimit: { token: { max: null } } });
  const greedy = await server.addEndpoint();
  const other = await server.addEndpoint({ plan: "pro" });
  await using receiver = await startReceiverWith((response) => response.end());
  for (let form = 0; form < 40; form += 1) {
    const { id } = await server.addEndpoint({ plan: "pro" });
    await server.owner.transaction(() => addWebhooks(id, receiver.url, 50));
  }
  const ask = askWith(server, await makeToken(server));
  for (let change = 0; change < 600; change += 1)
    await ask("POST", `/endpoints/${greedy.id}/${change % 2 === 0 ? "pause" : "resume"}`);
  // The server reads whom the form's posts go to.
  await server.post(other.secret, goodPost);
  const made = await ask("POST", "/webhooks", {
    body: { endpoint: other.id, url: `${receiver.url}/new`, allow_private: true },
  });
  expect(made.status, made.text).toBe(201);
  await server.post(other.secret, goodPost);
  await until(() => receiver.received.some(({ path }) => path.endsWith("/new")));
});

test("an account with e-mails for several minutes delays none of another account", async () => {
  const mail = await startMailServer();
  const server = await startServer({
    mail: { host: "127.0.0.1", port: mail.port, from: "forms@example.com", limits: { perMinute: 30 } },
  });
  const greedy = await server.addEndpoint({ plan: "hobby" });
  const other = await server.addEndpoint({ plan: "pro" });
  const add = (endpointId: string, address: string) =>
    server.owner.transaction(() => {
      const settings = { ...defaultMailRecipientSettings, address };
      return addMailRecipient({ endpointId, settings, isConfirmed: true }, server.clock.now());
    });
  for (let index = 0; index < 20; index += 1) await add(greedy.id, `greedy${index}@example.org`);
  await add(other.id, "ada@example.org");
  const sentTo = (address: string): number => mail.received.filter(({ to }) => to[0] === address).length;
  for (let post = 0; post < 5; post += 1) await server.post(greedy.secret, goodPost);
  await until(() => mail.received.length >= 15);
  const isSent = (post: number) => () => sentTo("ada@example.org") >= post;
  expect(await typically(3, (post) => timed(server, other, isSent(post)))).toBeLessThan(PROMPT_MS);
  expect(mail.received).toHaveLength(18);
});
