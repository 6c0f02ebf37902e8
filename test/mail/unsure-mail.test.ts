import { expect, test } from "vitest";
import { adviceFor } from "../../src/dashboard/notifications/delivery-words.ts";
import { listAttempts } from "../../src/outbox/queue/delivery-store.ts";
import { checkFailedMail } from "../../src/mail/health/mail-health.ts";
import { MailWorld } from "../support/mail-world.ts";
import { startScriptedServer } from "../support/smtp-servers.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

test("if the mail server always drops the connection after the content, each e-mail ends, and people read that it may have arrived", async () => {
  const server = await startScriptedServer({ content: "drop" });
  await using world = new MailWorld(server.port);
  await world.addRecipient();
  world.deliverer.start();
  world.post(3);
  await world.runUntil(world.clock.now() + HOUR_MS);
  expect(world.states()).toEqual({ failed: 3 });
  expect(server.lines.filter((line) => line.startsWith("DATA"))).toHaveLength(6);
  expect(world.db.now(checkFailedMail).message).toMatch(
    /^3 e-mails failed for good; 3 of them may have arrived: the mail server ended the connection after the content/,
  );
  const [first, last] = world.db.now(() => listAttempts(world.deliveryIds()[0] ?? ""));
  if (first === undefined || last === undefined) throw new Error("two attempts were made");
  expect(adviceFor("mail", first, false)).toContain("It is sent once more");
  expect(adviceFor("mail", last, true)).toContain("it is not sent again by itself");
});
