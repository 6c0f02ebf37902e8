import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { emptyMachine, type OperatorMachine } from "../support/operator-machine.ts";
import { applicationSchema, multipart } from "../support/uploads.ts";
import { type FaultServer, freePort, startServer } from "./server.ts";
import { attachStrace, type Tracing } from "./system-calls.ts";

/** What a client was told about its form. */
interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The submission's id; undefined if the form was refused. */
  readonly id: string | undefined;
}

interface Upload {
  readonly secret: string;
  /** So that it may be sent again. */
  readonly key: string;
  readonly files: readonly Buffer[];
}

/** Sends a form with files. Null if the connection broke. */
export async function upload(
  { port }: Pick<FaultServer, "port">,
  { secret, key, files }: Upload,
): Promise<Answer | null> {
  const form = await multipart([
    ["name", "Ana"],
    ...files.map((bytes, index) => ["cv", { name: `cv-${index}.pdf`, bytes }] as const),
  ]);
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/submit`, {
      method: "POST",
      headers: { ...form.headers, authorization: `Bearer ${secret}`, "idempotency-key": key },
      body: new Uint8Array(form.body),
    });
    const { submission_id: id } = (await answer.json()) as { submission_id?: string };
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), id };
  } catch {
    return null;
  }
}

/** A form that asks for files, on a machine of its own. @param env how its servers are configured */
export async function machineWithForm(env: Record<string, string> = {}) {
  const machine = emptyMachine();
  const endpoint = await machine.createEndpoint({ name: "Applications", schema: applicationSchema });
  const port = await freePort();
  const start = (): Promise<FaultServer> =>
    startServer(machine, port, { env: { FORMSVC_FILES_MIN_FREE_BYTES: "0", ...env } });
  return { machine, endpoint, secret: endpoint.secret, start };
}

/** Has the kernel kill a server at the `number`th of these system calls from now on. */
export function killAt({ pid }: FaultServer, calls: string, number: number): Promise<Tracing> {
  const inject = `inject=${calls}:signal=SIGKILL:when=${number}`;
  return attachStrace(pid, ["-o", "/dev/null", "-e", `trace=${calls}`, "-e", inject]);
}

export function isDead({ process }: FaultServer): boolean {
  return process.exitCode !== null || process.signalCode !== null;
}

/** Reads or changes what a machine has stored, beside its server. */
export function withStored<Result>(machine: OperatorMachine, work: (db: SqliteDatabase) => Result): Result {
  const db = openDatabase(machine.database, { busyTimeoutMs: 10_000 });
  try {
    return work(db);
  } finally {
    db.close();
  }
}
