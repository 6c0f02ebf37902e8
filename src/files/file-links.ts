import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Database, query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { isFileList } from "../foundation/file-list.ts";
import { isId } from "../foundation/id.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { StoredSecret } from "../secrets/stored-secret.ts";
import { DAY_SECONDS } from "../foundation/time-units.ts";

const KEY_BYTES = 32;
const KEY_PLACE = "file_link_key.key";
/** Seconds since 1970 UTC, in their only valid form. */
const TIME = /^[1-9]\d{8,11}$/;

/** The parts of a file's link in a request. */
export interface FileLink {
  readonly id: string;
  /** The time when the link ends, as text, in seconds since 1970 UTC. */
  readonly until: string;
  readonly signature: string;
}

/** Makes and checks links: whoever has a link can read its file until the link ends. */
export interface FileLinks {
  /**
   * Returns the data of a submission as JSON, with a link for each of its files.
   *
   * @param own the ids of its files. Whoever has a form can send data that look like a list of files, and that name the files of others.
   */
  link(data: Readonly<Record<string, unknown>>, now: number, own: readonly string[]): Promise<string>;
  /** The same as {@link FileLinks.link}, inside a transaction. */
  linkRow(data: Readonly<Record<string, unknown>>, now: number, own: readonly string[]): Steps<string>;
  /** Returns a message about a submission with new links. Files that do not exist any more get none. Inside a transaction. */
  renew(submissionId: string, body: string, now: number): Steps<string>;
  /** Whether the link was made here and has not ended. Takes the same time for every wrong signature. */
  isGood(link: FileLink, now: number): Promise<boolean>;
}

export interface FileLinksParts {
  readonly db: Database;
  readonly keyring: Keyring;
  /** The address of the server, without a slash at the end. */
  readonly baseUrl: string;
  readonly days: number;
  /** Returns the current data of a submission; null if it does not exist any more. */
  readonly dataOf?: (submissionId: string) => Steps<Readonly<Record<string, unknown>> | null>;
}

export function createFileLinks({ db, keyring, baseUrl, days, dataOf = noData }: FileLinksParts): FileLinks {
  let known: Buffer | null = null;
  const linker = (key: Buffer, now: number) => {
    const until = String(Math.floor(now / 1000) + days * DAY_SECONDS);
    const url_expires_at = toIsoTime(Number(until) * 1000);
    return (id: string) => ({
      url: `${baseUrl}/files/${id}?until=${until}&sig=${sign(key, id, until)}`,
      url_expires_at,
    });
  };
  return {
    async link(data, now, own) {
      known ??= await db.transaction(() => chooseSigningKey(keyring));
      return JSON.stringify(withLinks(data, ofThese(own, linker(known, now))));
    },
    *linkRow(data, now, own) {
      return JSON.stringify(withLinks(data, ofThese(own, linker(yield* chooseSigningKey(keyring), now))));
    },
    *renew(submissionId, body, now) {
      const linkOf = linker(yield* chooseSigningKey(keyring), now);
      const rows = query.selectFrom("file").select("id").where("submission_id", "=", submissionId);
      const there = new Set((yield* all(rows)).map(({ id }) => id));
      const message = JSON.parse(body) as { submission: { data: Readonly<Record<string, unknown>> } };
      const data = withStatesOf(yield* dataOf(submissionId), message.submission.data);
      message.submission.data = withLinks(data, (id) => (there.has(id) ? linkOf(id) : null));
      return JSON.stringify(message);
    },
    async isGood({ id, until, signature }, now) {
      if (!isId("fil", id) || !TIME.test(until)) return false;
      const key = (known ??= (await db.read(() => readKey(keyring))) ?? null);
      if (key === null) return false;
      const expected = Buffer.from(sign(key, id, until));
      // Compares the texts, because some bits of the last character of base64 have no meaning.
      const given = Buffer.from(signature);
      return (
        given.length === expected.length && timingSafeEqual(given, expected) && Number(until) * 1000 > now
      );
    },
  };
}

function* noData(): Steps<null> {
  yield* [];
  return null;
}

/** Updates the files in a message to their current states. */
function withStatesOf(
  current: Readonly<Record<string, unknown>> | null,
  data: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const files = Object.values(current ?? {}).flatMap((value) => (isFileList(value) ? value : []));
  const known = new Map(files.map((file) => [file.id, file]));
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      isFileList(value) ? value.map((file) => known.get(file.id) ?? file) : value,
    ]),
  );
}

function sign(key: Buffer, id: string, until: string): string {
  return createHmac("sha256", key).update(`file ${id} ${until}`).digest("base64url");
}

/** Returns the link of a file; null for one that does not exist any more; undefined for a value that only looks like a file of this data. */
type LinkOf = (id: string) => object | null | undefined;

function ofThese(own: readonly string[], linkOf: LinkOf): LinkOf {
  return (id) => (own.includes(id) ? linkOf(id) : undefined);
}

function withLinks(data: Readonly<Record<string, unknown>>, linkOf: LinkOf): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, isFileList(value) ? value.map(linked) : value]),
  );
  function linked(file: { readonly id: string; readonly state?: unknown }): object {
    const { url: _url, url_expires_at: _at, ...facts } = file as Record<string, unknown>;
    // A file that was not scanned may be readable already, or later.
    const isThere = file.state === undefined || file.state === "scanning" || file.state === "unscanned";
    const link = isThere ? linkOf(file.id) : null;
    if (link === undefined) return file;
    if (link !== null) return { ...facts, ...link };
    return { ...facts, state: isThere ? "deleted" : file.state };
  }
}

/** Lists the signing key, so that it can be encrypted anew with the other secrets. */
export function* listFileLinkKeys(): Steps<StoredSecret[]> {
  const row = yield* first(query.selectFrom("file_link_key").select("key"));
  if (row === undefined) return [];
  const replace = (stored: Buffer): Steps<unknown> =>
    run(query.updateTable("file_link_key").set({ key: stored }));
  return [{ context: KEY_PLACE, stored: row.key, replace }];
}

function* readKey(keyring: Keyring): Steps<Buffer | undefined> {
  const row = yield* first(query.selectFrom("file_link_key").select("key"));
  return row && keyring.open(row.key, KEY_PLACE);
}

/** Returns the key that signs links and challenges; makes it if there is none yet. Inside a transaction. */
export function* chooseSigningKey(keyring: Keyring): Steps<Buffer> {
  const known = yield* readKey(keyring);
  if (known !== undefined) return known;
  const made = { id: 1, key: keyring.seal(randomBytes(KEY_BYTES), KEY_PLACE) };
  // Another server may make the key at the same time.
  yield* run(
    query
      .insertInto("file_link_key")
      .values(made)
      .onConflict((conflict) => conflict.doNothing()),
  );
  const stored = yield* readKey(keyring);
  if (stored === undefined) throw new Error("the key of file links was not stored");
  return stored;
}
