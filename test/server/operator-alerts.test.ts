import { expect, test, vi } from "vitest";
import { readMail } from "../support/read-mail.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { insertWebhookRows } from "../../src/webhooks/webhook-store.ts";
import { defaultWebhookSettings } from "../../src/webhooks/webhook.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/foundation/time-units.ts";

const OPERATOR = "ops@example.org";

function addWebhook({ owner, config, clock }: TestServer, endpointId: string, url: string): string {
  const settings = { ...defaultWebhookSettings, url, allowPrivate: true };
  return owner.now(() => insertWebhookRows(createKeyring(config.secrets), endpointId, settings, clock.now()))
    .webhook.id;
}

/** Waits while the server's seconds go by, in which it notices what others changed in its database. */
function inTime<Found>(look: () => Found) {
  return until(() => {
    vi.advanceTimersByTime(1000);
    return look();
  });
}

test("a server writes once to its operator when a webhook starts to fail and once when it works again, whatever restarts come between", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    let status = 500;
    await using receiver = await startReceiverWith((response) => response.writeHead(status).end());
    const mail = await startMailServer();
    const settings = { host: "127.0.0.1", port: mail.port, from: "forms@example.com", operator: OPERATOR };
    const server = await startServer({ mail: settings });
    const { owner, clock } = server;
    const endpoint = await server.addEndpoint();
    const failing = addWebhook(server, endpoint.id, receiver.url);
    /** The server's minute comes round after a while. Returns the text of the letter that it then writes. */
    const letterAfter = async (ms: number): Promise<string> => {
      const count = mail.received.length;
      clock.advance(ms);
      vi.advanceTimersByTime(MINUTE_MS);
      const letter = await inTime(() => mail.received[count]);
      // The next process knows what was told once this is written.
      await inTime(() => owner.prepare("SELECT count(*) FROM told_problem").pluck().get() !== before);
      before = owner.prepare("SELECT count(*) FROM told_problem").pluck().get();
      return readMail(letter.raw).text;
    };
    let before: unknown = 0;

    expect((await server.post(endpoint.secret, goodPost)).status).toBe(200);
    await inTime(() => owner.prepare("SELECT 1 FROM recipient WHERE failing_since IS NOT NULL").get());
    const first = await letterAfter(2 * HOUR_MS);
    expect(first).toContain("PROBLEM: webhooks.receivers: the receiver 127.0.0.1");

    await server.restart();
    const gone = addWebhook(server, endpoint.id, "https://gone.example.com/");
    owner.execute(`UPDATE recipient SET state = 'stopped' WHERE id = '${gone}'`);
    const second = await letterAfter(20 * MINUTE_MS);
    expect(second).toContain("PROBLEM: webhooks.receivers: the receiver gone.example.com");
    expect(second).not.toContain("127.0.0.1");
    expect(second).toMatch(/As before: \d that you were told of/);

    await server.restart();
    status = 200;
    expect((await server.post(endpoint.secret, goodPost)).status).toBe(200);
    await inTime(() =>
      owner.prepare("SELECT 1 FROM recipient WHERE id = ? AND failing_since IS NULL").get(failing),
    );
    const third = await letterAfter(20 * MINUTE_MS);
    expect(third).toContain("Ended: webhooks.receivers: the receiver 127.0.0.1");
    expect(third).not.toContain("PROBLEM");
    expect(mail.received.map(({ to }) => to)).toEqual([[OPERATOR], [OPERATOR], [OPERATOR]]);
  } finally {
    vi.useRealTimers();
  }
});
