import { expect, test } from "vitest";
import { type Brand, NO_BRAND } from "../../src/foundation/brand.ts";
import { setWorkspace } from "../../src/workspaces/workspace-operations.ts";
import type { MailWorld } from "../support/mail-world.ts";
import { readMail } from "../support/read-mail.ts";
import { ReplyWorld } from "../support/reply-world.ts";
import { startMailServer, startScriptedServer } from "../support/smtp-servers.ts";
import { performOn } from "../support/terminal.ts";
import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const BRAND: Brand = { colour: "#ffcc00", name: "Mia’s <Bakery>", footer: "Mia Berg\nHauptstr. 1 & 2" };

function setBrand(world: MailWorld, { colour, name, footer }: Brand): Promise<unknown> {
  const { workspaceId } = world.db.now(() => getEndpoint(world.endpointId));
  const brand = { brand_colour: colour, brand_name: name, brand_footer: footer };
  return performOn(world.db, setWorkspace, { workspace: workspaceId, ...brand });
}

function expectBrand(raw: Buffer): void {
  const { html, text } = readMail(raw);
  expect(text.startsWith("Mia’s <Bakery>\n\n")).toBe(true);
  expect(text.trimEnd().endsWith("\n\nMia Berg\nHauptstr. 1 & 2")).toBe(true);
  expect(html).toContain("<bdi>Mia’s &lt;Bakery&gt;</bdi>");
  expect(html).toContain('<div dir="auto">Hauptstr. 1 &amp; 2</div>');
  expect(html).toContain("border-top:6px solid #ffcc00");
  expect(html).not.toMatch(/<img|url\(/);
}

test("e-mails about one submission, about several, and to who wrote have the workspace's colour, name and footer", async () => {
  const server = await startMailServer();
  await using world = new ReplyWorld(server.port);
  await world.addRecipient("each@example.org");
  await world.addRecipient("hourly@example.org", { digest: "hourly" });
  await world.turnOn();
  await setBrand(world, BRAND);
  world.deliverer.start();
  world.postFrom({ email: "ida@example.net", message: "one" });
  world.postFrom({ email: "eva@example.net", message: "two" });
  await world.runUntil(world.clock.now() + 2 * HOUR_MS);
  const receivers = new Set(server.received.map(({ to }) => to[0]));
  for (const each of ["each@example.org", "eva@example.net", "hourly@example.org", "ida@example.net"])
    expect(receivers).toContain(each);
  for (const { raw } of server.received) expectBrand(raw);
  const each = server.received.find(({ to }) => to[0] === "each@example.org");
  const { html } = readMail(each!.raw);
  // Words on it are black, in the dark too: a class would turn the ground round.
  expect(html).toMatch(/<a href="[^"]*" style="[^"]*background-color:#ffcc00;color:#000000">/);
  expect(html).not.toContain('class="b"');
});

test("an e-mail that is repeated after the look was changed has the same bytes", async () => {
  const server = await startScriptedServer({ DATA: "450 4.2.0 later" });
  await using world = new ReplyWorld(server.port);
  await world.addRecipient("ada@example.org");
  await setBrand(world, { ...NO_BRAND, name: "Before" });
  world.deliverer.start();
  world.post(1, { message: "Hi" });
  await world.settle();
  await setBrand(world, { ...NO_BRAND, name: "After" });
  server.play({});
  await world.runUntil(world.clock.now() + 300_000);
  expect(world.states()).toEqual({ delivered: 1 });
  const text = server.lines.join("\n");
  expect(text).toContain("Before");
  expect(text).not.toContain("After");
});
