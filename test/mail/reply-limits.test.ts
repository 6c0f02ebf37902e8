import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings, type Endpoint } from "../../src/endpoints/endpoint.ts";
import { checkAutoReplies } from "../../src/mail/auto-reply/auto-reply-health.ts";
import { setAutoReply } from "../support/auto-replies.ts";
import { createMayReply } from "../../src/mail/auto-reply/may-reply.ts";
import type { ReplyLimits } from "../../src/mail/auto-reply/reply-limits.ts";
import { showAutoReply } from "../../src/mail/auto-reply/show-auto-reply.ts";
import type { Workspace } from "../../src/workspaces/workspace.ts";
import { insertAccountRows, insertWorkspaceRow } from "../../src/workspaces/workspace-store.ts";
import { asSubmission } from "../support/add-submission.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

const PLANS = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };

/** A form whose automatic reply is on. */
interface Form {
  readonly endpoint: Endpoint;
  readonly recipientId: string;
}

/** Forms of several workspaces, and visitors whom nobody else is, from networks of their own. */
function townOn(db: Database, limits: ReplyLimits) {
  const mayReply = createMayReply(["forms@example.com"], limits);
  let visitors = 0;
  return {
    /** The first one is an operator. */
    addAccount: async (name: string): Promise<Workspace> =>
      (await db.transaction(() => insertAccountRows(`${name}@example.org`, NOON))).workspace,
    async addForm(workspace: Workspace): Promise<Form> {
      const definition = { email: { type: "string", format: "email" } } as const;
      const made = { name: "Contact", definition, settings: defaultEndpointSettings };
      const endpoint = await db.transaction(() => insertEndpointRow(workspace, made, PLANS, NOON));
      const reply = await setAutoReply(db, { endpoint, change: {} }, NOON);
      return { endpoint, recipientId: reply.id };
    },
    post({ endpoint, recipientId }: Form, now = NOON): Promise<boolean> {
      visitors += 1;
      const data = { email: `eve${visitors}@example.net` };
      const submission = asSubmission({ endpointId: endpoint.id, data, createdAt: now });
      const posted = { submission, address: `10.0.${visitors}.1`, trapped: false, fields: {} };
      return db.transaction(() => mayReply(recipientId, posted, now));
    },
    /** What the owner of a form sees. */
    async fullLimit({ endpoint }: Form, now = NOON) {
      return (await db.read(() => showAutoReply(endpoint, limits, now))).fullLimit;
    },
    health: (now = NOON) => db.read(() => checkAutoReplies(limits, now)),
  };
}

async function inTurn(count: number, post: (n: number) => Promise<boolean>): Promise<boolean[]> {
  const replied: boolean[] = [];
  for (let n = 0; n < count; n += 1) replied.push(await post(n));
  return replied;
}

describe.each(ENGINES)("limits of automatic replies on $name", ({ temporary }) => {
  test("the endpoints of a workspace have one limit of an hour together, and another workspace has its own", async () => {
    const db = await temporary();
    const town = townOn(db, { perWorkspacePerHour: 3, perHour: null });
    const ana = await town.addAccount("ana");
    const forms = [await town.addForm(ana), await town.addForm(ana)] as const;
    const other = await db.transaction(() => insertWorkspaceRow("Other", ana.accountId, NOON));
    const elsewhere = await town.addForm(other);
    const post = (n: number): Promise<boolean> => town.post(n % 2 === 0 ? forms[0] : forms[1]);
    expect(await town.fullLimit(forms[0])).toBeNull();
    expect(await inTurn(5, post)).toEqual([true, true, true, false, false]);
    expect(await town.post(await town.addForm(ana)), "a new endpoint").toBe(false);
    expect(await town.fullLimit(forms[0])).toBe("workspace");
    expect(await town.post(elsewhere)).toBe(true);
    expect(await town.fullLimit(elsewhere)).toBeNull();
    expect(await town.post(forms[1], NOON + HOUR_MS - 1)).toBe(false);
    expect(await town.post(forms[1], NOON + HOUR_MS)).toBe(true);
    expect(await town.fullLimit(forms[1], NOON + HOUR_MS)).toBeNull();
  });

  test("the workspaces of people have one limit together, and those of an operator are not counted", async () => {
    const db = await temporary();
    const town = townOn(db, { perWorkspacePerHour: 100, perHour: 3 });
    const own = await town.addForm(await town.addAccount("operator"));
    const [ana, ben] = [
      await town.addForm(await town.addAccount("ana")),
      await town.addForm(await town.addAccount("ben")),
    ];
    expect(await inTurn(4, () => town.post(own))).toEqual([true, true, true, true]);
    expect(await town.health()).toMatchObject([{ ok: true }]);
    expect(await inTurn(5, (n) => town.post(n % 2 === 0 ? ana : ben))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect([await town.fullLimit(ana), await town.fullLimit(ben)]).toEqual(["service", "service"]);
    expect(await town.health()).toMatchObject([{ name: "mail.replies", ok: false }]);
    expect(await town.post(own)).toBe(true);
    expect(await town.fullLimit(own)).toBeNull();
    expect(await town.post(ben, NOON + HOUR_MS)).toBe(true);
    expect(await town.health(NOON + HOUR_MS)).toMatchObject([{ ok: true }]);
  });

  test("an endpoint's own limit is told before those that it shares", async () => {
    const db = await temporary();
    const town = townOn(db, { perWorkspacePerHour: 20, perHour: null });
    const form = await town.addForm(await town.addAccount("ana"));
    expect(await inTurn(21, () => town.post(form))).toEqual([...Array<boolean>(20).fill(true), false]);
    expect(await town.fullLimit(form)).toBe("endpoint");
  });

  test("what is over a limit is not counted, and 0 lets nobody have a reply, which is no problem", async () => {
    const db = await temporary();
    const none = townOn(db, { perWorkspacePerHour: 100, perHour: 0 });
    await none.addAccount("operator");
    const form = await none.addForm(await none.addAccount("ana"));
    expect(await none.post(form)).toBe(false);
    expect(await none.health()).toMatchObject([{ ok: true }]);
    expect(await rowsOf(db, "SELECT * FROM quota_use")).toEqual([]);
    expect(await townOn(db, { perWorkspacePerHour: 0, perHour: null }).post(form)).toBe(false);
    expect(await townOn(db, { perWorkspacePerHour: 1, perHour: null }).post(form)).toBe(true);
  });
});
