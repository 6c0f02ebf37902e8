import SqliteDatabase from "better-sqlite3";
import { expect, test } from "vitest";
import type { RunningServer } from "../support/running-server.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { tryPost } from "../support/posts.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";
import { until } from "../support/until.ts";
import { extent, isShort, report } from "./extent.ts";

const KILL_ROUNDS = extent.killRounds;
const POSTS_A_ROUND = isShort ? 4 : 20;
const RECIPIENTS = 3;
const AT_ONCE = 2;

/** What a mail server has, and where it is to kill the one that sends. */
class Mailbox {
  /** The numbers that each recipient was told, as often as it was told. */
  readonly told = new Map<string, number[]>();
  /** The contents that came under each Message-ID. */
  readonly contents = new Map<string, string[]>();
  #killAfter = Number.POSITIVE_INFINITY;
  #kill: (() => void) | null = null;
  #atContent = false;

  /** @param atContent whether the e-mail is there when the process dies; else it dies before its first byte. */
  killAfter(count: number, atContent: boolean, kill: () => void): void {
    this.#killAfter = count;
    this.#kill = kill;
    this.#atContent = atContent;
  }

  /** Whether the process has been killed now, so that nothing may be answered. */
  begins(): boolean {
    this.#killAfter -= 1;
    return !this.#atContent && this.#dies();
  }

  ends(to: string, raw: string): boolean {
    const id = /^Message-ID: <(\S+)>/m.exec(raw)?.[1] ?? "";
    this.contents.set(id, [...(this.contents.get(id) ?? []), raw]);
    this.told.set(to, [...(this.told.get(to) ?? []), ...numbersIn(raw)]);
    return this.#atContent && this.#dies();
  }

  /** Whether the e-mail of this Message-ID came and is about as many submissions: a summary shows fifty and counts the others. */
  isAbout(id: string, count: number): boolean {
    const raw = this.contents.get(id)?.[0] ?? "";
    const left = /^And (\d+) more\.\r$/m.exec(raw)?.[1] ?? 0;
    return numbersIn(raw).length + Number(left) === count;
  }

  #dies(): boolean {
    const kill = this.#kill;
    if (this.#killAfter > 0 || kill === null) return false;
    // The next process may send before it is told where it ends.
    this.#kill = null;
    kill();
    return true;
  }
}

/** The submissions that an e-mail shows. */
function numbersIn(raw: string): number[] {
  const text = raw.split("text/html", 1)[0] ?? "";
  return [...text.matchAll(/^n: (\d+)\r$/gm)].map(([, n]) => Number(n));
}

async function startMailbox(): Promise<{ mailbox: Mailbox; port: number }> {
  const mailbox = new Mailbox();
  const { port } = await startMailServer({
    onData(stream, session, callback) {
      // Its sender dies here and there.
      stream.on("error", () => undefined);
      if (mailbox.begins()) return;
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const to = session.envelope.rcptTo[0]?.address ?? "";
        if (!mailbox.ends(to, Buffer.concat(chunks).toString())) callback(null, "queued");
      });
    },
  });
  return { mailbox, port };
}

async function prepare(port: number): Promise<{ machine: OperatorMachine; key: string }> {
  const { host, from } = plainSettings(port);
  const limits = { total: AT_ONCE, perMinute: 1_000_000, perRecipientPerHour: 1_000_000 };
  const machine = operatorMachine({
    mail: { host, port, from, limits },
    log: { level: "info", format: "json" },
  });
  const { secret } = await machine.createEndpoint({ schema: { n: { type: "number" } } });
  for (let index = 0; index < RECIPIENTS; index += 1) {
    const address = `r${index}@example.org`;
    await machine.mustRun(["recipient", "add", address, "--endpoint", "Contact", "--max-spam-score", "100"]);
  }
  return { machine, key: secret };
}

/** The numbers that were acknowledged before the server died. */
async function postSome(server: RunningServer, key: string, from: number): Promise<number[]> {
  const numbers = Array.from({ length: POSTS_A_ROUND }, (_, index) => from + index);
  const answers = numbers.map((n) =>
    tryPost(server.url, key, { n }).then(
      ({ status }) => (status === 200 ? [n] : []),
      () => [],
    ),
  );
  return (await Promise.all(answers)).flat();
}

/** As if hours had passed: what waits is due, and what was gathered goes out as a summary, or each by itself. */
function passTime(machine: OperatorMachine, asSummary: boolean): void {
  const db = new SqliteDatabase(machine.database);
  db.exec("UPDATE delivery SET due_at = 0 WHERE state = 'pending'");
  db.exec(asSummary ? "UPDATE recipient_pace SET gathers_until = 1" : "DELETE FROM recipient_pace");
  db.close();
}

function countStates(machine: OperatorMachine): Record<string, number> {
  const db = new SqliteDatabase(machine.database, { readonly: true });
  const rows = db.prepare("SELECT state, count(*) AS count FROM delivery GROUP BY state").all();
  const queued = db.prepare("SELECT coalesce(sum(message_count), 0) FROM outbox").pluck().get() as number;
  db.close();
  const counts = Object.fromEntries(
    (rows as { state: string; count: number }[]).map(({ state, count }) => [state, count] as const),
  );
  return queued === 0 ? counts : { ...counts, queued };
}

interface SentRow {
  /** The Message-ID of the e-mail that it went in. */
  readonly sent: string;
  readonly address: string;
  readonly n: number;
}

/** What each recipient was told of: the numbers that e-mails show, and those that whole summaries count. */
function toldOf(machine: OperatorMachine, mailbox: Mailbox): Map<string, Set<number>> {
  const db = new SqliteDatabase(machine.database, { readonly: true });
  const rows = db
    .prepare(
      `SELECT coalesce(lead_id, delivery.id) || '@example.com' AS sent, address, json_extract(data, '$.n') AS n
        FROM delivery JOIN submission ON submission.id = submission_id
        JOIN mail_recipient ON mail_recipient.id = delivery.recipient_id`,
    )
    .all() as SentRow[];
  db.close();
  const told = new Map([...mailbox.told].map(([to, numbers]) => [to, new Set(numbers)]));
  for (const [sent, together] of Map.groupBy(rows, (row) => row.sent)) {
    if (mailbox.isAbout(sent, together.length))
      for (const { address, n } of together) told.get(address)?.add(n);
  }
  return told;
}

/** Serves until nothing is to be sent any more. */
async function serveToEnd(machine: OperatorMachine): Promise<Record<string, number>> {
  passTime(machine, false);
  let server = await machine.serve();
  const states = await until(async () => {
    const counts = countStates(machine);
    const { pending = 0, sending = 0, queued = 0 } = counts;
    if (pending + sending + queued === 0) return counts;
    if (sending + queued > 0) return null;
    // What the recovery planned for later, and what is gathered.
    await server.stop();
    passTime(machine, true);
    server = await machine.serve();
    return null;
  });
  await server.stop();
  return states;
}

test(
  "however often the server is killed between 354 and 250, no e-mail is lost, and each death repeats no more than were under way",
  { timeout: 90_000 + KILL_ROUNDS * 15_000 },
  async () => {
    const { mailbox, port } = await startMailbox();
    const { machine, key } = await prepare(port);
    const acknowledged: number[] = [];
    for (let round = 0; round < KILL_ROUNDS; round += 1) {
      if (round > 0) passTime(machine, round % 3 === 2);
      const server = await machine.serve();
      const died = Promise.withResolvers<void>();
      mailbox.killAfter(1 + (round % 5), round % 2 === 0, () => {
        void server.stop("SIGKILL").then(() => died.resolve());
      });
      acknowledged.push(...(await postSome(server, key, round * POSTS_A_ROUND)));
      await died.promise;
    }
    const { failed = 0, ...rest } = await serveToEnd(machine);
    expect(Object.keys(rest)).toEqual(["delivered"]);
    const repeated = [...mailbox.contents.values()].reduce((sum, { length }) => sum + length - 1, 0);
    expect(repeated).toBeLessThanOrEqual(AT_ONCE * KILL_ROUNDS);
    for (const contents of mailbox.contents.values()) expect(new Set(contents).size).toBe(1);

    // Those that met two deaths are not lost: they wait for somebody, and say so.
    if (failed > 0) await machine.mustRun(["mail", "replay", "--failed"]);
    expect(Object.keys(await serveToEnd(machine))).toEqual(["delivered"]);
    const everybody = toldOf(machine, mailbox);
    expect(everybody.size).toBe(RECIPIENTS);
    for (const [to, told] of everybody) {
      const untold = acknowledged.filter((n) => !told.has(n));
      expect(untold, to).toEqual([]);
    }
    report("kill -9 between 354 and 250", {
      rounds: KILL_ROUNDS,
      acknowledged: acknowledged.length,
      "e-mails": mailbox.contents.size,
      repeated,
      "for somebody to repeat": failed,
      lost: 0,
    });
  },
);
