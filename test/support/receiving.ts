import { parseBody } from "../../src/submissions/receive/parse-body.ts";
import { onTestFinished } from "vitest";
import { createSubmitService, type SubmitService } from "../../src/app/submit-service.ts";
import { type Config, defaultConfig } from "../../src/config/config.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { silentLog } from "./silent-log.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { temporaryDatabase } from "./temporary-database.ts";
import { insertWorkspaceRow, updatePlanRow } from "../../src/workspaces/workspace-store.ts";
import { makeEndpoint } from "./terminal.ts";

/** One workspace with one endpoint that accepts any fields, on its own database, with a clock that tests move. */
export interface Receiving {
  readonly db: SqliteDatabase;
  readonly config: Config;
  readonly workspaceId: string;
  readonly endpointId: string;
  readonly clock: FakeClock;
  /** Submits a post, and returns the submission's id or the code of the refusal. */
  submit(body: Record<string, unknown>, from?: Partial<From>): Promise<string>;
  /** Opens a new service on the same database, with an empty memory: another process, or the same one after a restart. */
  restart(): Promise<void>;
  /** Adds one more workspace with an endpoint. */
  another(): Promise<Pick<Receiving, "workspaceId" | "endpointId" | "submit">>;
}

interface From {
  readonly address: string;
  readonly userAgent: string;
  readonly idempotencyKey: string | undefined;
}

const somebody: From = {
  address: "192.0.2.7",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  idempotencyKey: undefined,
};

export async function receiving(changes: Partial<Config> = {}): Promise<Receiving> {
  const db = temporaryDatabase();
  const off = { max: null, windowSeconds: 60 };
  const config: Config = {
    ...defaultConfig,
    database: { ...defaultConfig.database, path: db.path },
    rateLimit: { publishable: off, secret: off, badKey: off, token: off, exempt: [] },
    ...changes,
  };
  const clock = createFakeClock();
  const open = (): Promise<SubmitService> =>
    createSubmitService({ db, config, clock, log: silentLog, metrics: null });
  let service = await open();
  onTestFinished(() => service.posts.drain());
  const make = async (workspace: string | null) => {
    const settings = { ...defaultEndpointSettings, unknownFields: "keep" as const };
    const made = { name: "Contact", definition: { message: { type: "string" as const } }, settings };
    const { endpoint, publishable } = await makeEndpoint(db, made, {
      workspace,
      plans: config.plans,
      now: clock.now(),
    });
    const submit = async (body: Record<string, unknown>, from: Partial<From> = {}): Promise<string> => {
      const { address, userAgent, idempotencyKey } = { ...somebody, ...from };
      const caller = await service.posts.gatekeeper.authenticate(`Bearer ${publishable.text}`, address);
      const post = {
        body: Buffer.from(JSON.stringify(body)),
        readFields: parseBody,
        origin: undefined,
        fromBrowser: true,
        userAgent,
        acceptLanguage: "en",
        idempotencyKey,
        submitterIp: undefined,
        submitterUserAgent: undefined,
      };
      try {
        service.posts.intake.admit(caller, post);
        return await service.posts.intake.receive(caller, post);
      } catch (error) {
        if (error instanceof FormsvcError) return error.code;
        throw error;
      }
    };
    return { workspaceId: endpoint.workspaceId, endpointId: endpoint.id, submit };
  };
  return {
    db,
    config,
    clock,
    ...(await make(null)),
    restart: async () => void (service = await open()),
    another: async () => {
      const { id } = db.now(() => insertWorkspaceRow(`Workspace ${clock.now()}`, null, clock.now()));
      db.now(() => updatePlanRow(id, "pro", config.plans));
      return make(id);
    },
  };
}
