import { expect, test } from "vitest";
import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { zonedTime } from "../../src/mail/compose/mailed-event.ts";
import { setWorkspace } from "../../src/workspaces/workspace-operations.ts";
import { changeMailRecipient } from "../support/mail-recipients.ts";
import { MailWorld } from "../support/mail-world.ts";
import { readMail } from "../support/read-mail.ts";
import { startMailServer, startScriptedServer } from "../support/smtp-servers.ts";
import { changeEndpoint, performOn } from "../support/terminal.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

function setZone(world: MailWorld, zone: string): Promise<unknown> {
  const { workspaceId } = world.db.now(() => getEndpoint(world.endpointId));
  return performOn(world.db, setWorkspace, { workspace: workspaceId, time_zone: zone });
}

/** The time of the world's clock as `2026-11-22 10:41`. @param hours east of Greenwich */
function minutesAt(world: MailWorld, hours: number): string {
  const local = new Date(world.clock.now() + hours * 60 * MINUTE_MS);
  return local.toISOString().slice(0, 16).replace("T", " ");
}

test("each recipient reads its own language, and the time of the workspace's zone by its name", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  await world.addRecipient("ada@example.org", { language: "fr" });
  await world.addRecipient("ben@example.org");
  await setZone(world, "asia/tokyo");
  world.deliverer.start();
  world.post(1, { message: "Open on Sunday?" });
  await world.settle();
  const byAddress = new Map(server.received.map(({ to, raw }) => [to[0], readMail(raw)]));
  const time = `${minutesAt(world, 9)} Asia/Tokyo`;
  expect(byAddress.get("ada@example.org")?.text).toContain(`Reçu : ${time}`);
  expect(byAddress.get("ben@example.org")?.text).toContain(`Received ${time}`);
});

test("who chose no language reads that of the form, and who chose one reads their own", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  await world.addRecipient("ada@example.org", { language: "fr" });
  await world.addRecipient("ben@example.org");
  world.db.now(() => changeEndpoint(world.endpointId, { settings: { language: "de" } }));
  world.deliverer.start();
  world.post(1, { message: "Open on Sunday?" });
  await world.settle();
  const textTo = (address: string): string | undefined =>
    server.received.filter(({ to }) => to[0] === address).map(({ raw }) => readMail(raw).text)[0];
  expect(textTo("ada@example.org")).toContain("Reçu : ");
  expect(textTo("ben@example.org")).toContain("Eingegangen");
});

test("an e-mail that is repeated after its language and zone were changed has the same bytes", async () => {
  const server = await startScriptedServer({ DATA: "450 4.2.0 later" });
  await using world = new MailWorld(server.port);
  const { id } = await world.addRecipient("ada@example.org", { language: "de" });
  world.deliverer.start();
  world.post();
  await world.settle();
  await setZone(world, "America/New_York");
  await world.db.transaction(() =>
    changeMailRecipient({ id, change: { language: "fi" } }, world.clock.now()),
  );
  world.deliverer.reload();
  server.play({});
  await world.runUntil(world.clock.now() + 5 * MINUTE_MS);
  expect(world.states()).toEqual({ delivered: 1 });
  const text = server.lines.join("\n");
  expect(text).toContain("Eingegangen");
  expect(text).toMatch(/ UTC/);
  expect(text).not.toContain("New_York");
});

test("a time has the hour of its own day, in summer and in winter", () => {
  const shown = (time: string, zone: string): string => zonedTime(time, zone);
  expect(shown("2026-07-01T22:30:15.000Z", "Europe/Berlin")).toBe("2026-07-02 00:30 Europe/Berlin");
  expect(shown("2026-12-01T22:30:15.000Z", "Europe/Berlin")).toBe("2026-12-01 23:30 Europe/Berlin");
  expect(shown("2026-12-01T22:30:15.000Z", "UTC")).toBe("2026-12-01 22:30 UTC");
});
