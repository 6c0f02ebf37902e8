import { expect, test } from "vitest";
import { changeMailRecipient } from "../support/mail-recipients.ts";
import { headerOf, MailWorld } from "../support/mail-world.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import { changeSchema } from "../support/terminal.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

test("a repeated attempt sends the same bytes, whatever was set in between; a new message has the new settings", async () => {
  const raws: Buffer[] = [];
  const server = await startMailServer({
    onData(stream, _session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        raws.push(Buffer.concat(chunks));
        const later = Object.assign(new Error("later"), { responseCode: 451 });
        callback(raws.length < 3 ? later : null, "queued");
      });
    },
  });
  await using world = new MailWorld(server.port);
  const { id } = await world.addRecipient("ada@example.org", { subject: "Before: {topic}" });
  world.deliverer.start();
  world.post(1, { topic: "Opening hours", email: "eve@example.net" });
  await world.settle();
  const change = { id, change: { subject: "After: {topic}" }, actor: null } as const;
  await world.db.transaction(() => changeMailRecipient(change, world.clock.now()));
  const definition = { topic: { type: "string" }, email: { type: "string", format: "email" } } as const;
  world.db.now(() => changeSchema(world.endpointId, definition, world.clock.now()));
  await world.runUntil(world.clock.now() + MINUTE_MS * 2);
  // Another process goes on.
  await world.restartMail();
  await world.runUntil(world.clock.now() + MINUTE_MS * 10);
  expect(raws).toHaveLength(3);
  expect(raws[1]).toEqual(raws[0]);
  expect(raws[2]).toEqual(raws[0]);
  expect(headerOf(raws[0] ?? Buffer.alloc(0), "Subject")).toBe("Before: Opening hours");
  world.post(1, { topic: "Opening hours", email: "eve@example.net" });
  await world.settle();
  expect(headerOf(raws[3] ?? Buffer.alloc(0), "Subject")).toBe("After: Opening hours");
  expect(headerOf(raws[3] ?? Buffer.alloc(0), "Reply-To")).toBe("<eve@example.net>");
});
