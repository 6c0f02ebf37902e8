import { createLog } from "../../src/foundation/log.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import {
  removeOwnTotp,
  renewOwnCodes,
  type SecurityParts,
  setOwnPassword,
  setOwnTotp,
} from "../../src/sessions/security-operations.ts";
import { createAttemptLimits } from "../../src/sessions/attempt-limits.ts";
import { createPasswordProver } from "../../src/sessions/prove-password.ts";
import { findViewer, type StartedSession, type Viewer } from "../../src/sessions/session.ts";
import { makeSignInLink } from "../../src/sessions/sign-in-link.ts";
import type { Client } from "../../src/sessions/note-sign-in.ts";
import { createSignIns } from "../../src/sessions/sign-in.ts";
import type { OwnerNotifier } from "../../src/sessions/notify-owner.ts";
import { newTotpSecret, toBase32, totpCode } from "../../src/sessions/totp.ts";
import { defaultConfig } from "../../src/config/config.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { createFakeClock, NOON } from "./fake-clock.ts";
import { temporaryDatabase } from "./temporary-database.ts";
import { performOn } from "./terminal.ts";

export const EMAIL = "ana@example.org";
export const PASSWORD = "correct horse battery";
export const CLIENT: Client = { address: "192.0.2.1", userAgent: "Firefox", knownCookie: null };

/** A person who is signed in and proves again who they are. */
interface Proof {
  readonly viewer: Viewer;
  readonly password: string;
  readonly address: string;
}

interface Options {
  readonly logAddresses?: boolean;
  readonly passwords?: "on" | "off";
  /** The database of another bench, which already has the account. */
  readonly db?: SqliteDatabase;
}

/** Makes everything that signs people in, over a database with one account, `ana@example.org`, which has no password yet. */
export function signInBench({ logAddresses = false, passwords = "on", db: given }: Options = {}) {
  const db = given ?? temporaryDatabase();
  const clock = createFakeClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLog("info", {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  // Every bench has the same keyring, so that two can share a database.
  const keyring = createKeyring({ keyFile: null, key: Buffer.alloc(32, 7).toString("base64") });
  // The limits wait for nothing, because delays have their own tests.
  const limits = createAttemptLimits(() => Promise.resolve());
  const prover = createPasswordProver(db, limits);
  const parts = { db, keyring, prover, limits, clock, log, logAddresses, passwords, party: null };
  const told: string[] = [];
  const ownerNotifier: OwnerNotifier = {
    *write(email, change) {
      yield* [];
      told.push(`${change} ${email}`);
    },
    send: () => {},
  };
  const { newWorkspacePlan } = defaultConfig;
  const signIns = createSignIns({ ...parts, newWorkspacePlan, ownerNotifier });
  const doorOf = ({ viewer, address }: Proof) => ({
    actor: { kind: "account", ...viewer } as const,
    now: clock.now(),
    parts: {
      keyring,
      prover,
      log,
      ownerNotifier,
      passwords,
      party: null,
      viewer,
      address,
    } satisfies SecurityParts,
  });
  const security = {
    changePassword: (proof: Proof, wanted: string) =>
      performOn(db, setOwnPassword, { password: proof.password, new_password: wanted }, doorOf(proof)),
    confirmTotp: async (proof: Proof, secret: string, code: string) => {
      const input = { password: proof.password, secret, code };
      return (await performOn(db, setOwnTotp, input, doorOf(proof))).recovery_codes;
    },
    renewRecoveryCodes: async (proof: Proof) =>
      (await performOn(db, renewOwnCodes, { password: proof.password }, doorOf(proof))).recovery_codes,
    removeTotp: (proof: Proof) => performOn(db, removeOwnTotp, { password: proof.password }, doorOf(proof)),
  };
  if (given === undefined) db.now(() => insertAccountRows(EMAIL, NOON));

  const link = (email = EMAIL) => db.now(() => makeSignInLink(email, clock.now())).token;
  const view = ({ cookie }: StartedSession): Viewer | undefined =>
    db.now(() => findViewer(cookie, clock.now(), defaultConfig.dashboard));
  const setPassword = (newPassword = PASSWORD) =>
    signIns.useLink({ token: link(), newPassword, code: "" }, CLIENT);
  const proofOf = (session: StartedSession, password = PASSWORD): Proof => {
    const viewer = view(session);
    if (viewer === undefined) throw new Error("the session has ended");
    return { viewer, password, address: CLIENT.address };
  };
  return {
    db,
    clock,
    lines,
    /** The e-mails that owners got about changes, each with the address. */
    told,
    signIns,
    security,
    link,
    view,
    setPassword,
    proofOf,
    /** Sets a password and a second factor. */
    async setBoth() {
      const session = await setPassword();
      const secret = newTotpSecret();
      const code = () => totpCode(secret, clock.now());
      const codes = await security.confirmTotp(proofOf(session), toBase32(secret), code());
      return { session, code, recoveryCodes: codes };
    },
  };
}
