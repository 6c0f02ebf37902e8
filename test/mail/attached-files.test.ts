import { describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { dropFiles, releaseFile } from "../../src/files/file-store.ts";
import { setObjectStore } from "../../src/files/object-store.ts";
import { S3Store } from "../../src/files/s3-store.ts";
import { newId } from "../../src/foundation/id.ts";
import { chooseAttached, readAttached } from "../../src/mail/compose/attached-files.ts";
import { attachmentHeaders } from "../../src/mail/compose/mail-attachment.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { headerOf, MailWorld } from "../support/mail-world.ts";
import { readMail } from "../support/read-mail.ts";
import { startScriptedStore } from "../support/scripted-store.ts";
import { type ScriptedServer, startMailServer, startScriptedServer } from "../support/smtp-servers.ts";
import { run, text } from "../../src/database/steps.ts";
import { pdf, sha256 } from "../support/uploads.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

const CHUNK_BYTES = 262_144;

interface Place {
  readonly endpointId: string;
  readonly submissionId: string;
}

/** Stores a file as posts do. Returns its id. */
async function addFile(
  db: Database,
  { endpointId, submissionId }: Place,
  { name, bytes }: { readonly name: string; readonly bytes: Buffer },
): Promise<string> {
  const id = newId("fil", NOON);
  await db.transaction(function* () {
    const values = [id, endpointId, submissionId, name, bytes.length, sha256(bytes)];
    yield* run(
      text(
        `INSERT INTO file (id, endpoint_id, submission_id, state, name, size, type, sha256, created_at)
         VALUES (?, ?, ?, 'stored', ?, ?, 'application/pdf', ?, 1)`,
        ...values,
      ),
    );
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
      yield* run(
        text(
          "INSERT INTO file_chunk (file_id, position, bytes) VALUES (?, ?, ?)",
          id,
          at / CHUNK_BYTES,
          bytes.subarray(at, at + CHUNK_BYTES),
        ),
      );
  });
  return id;
}

/** The parts of an e-mail with files, read strictly: the e-mail without them, and each file. */
function takeApart(raw: Buffer) {
  const source = raw.toString("latin1");
  for (const line of source.split("\r\n"))
    if (line.length > 998) throw new Error(`a line of ${line.length} characters`);
  const type = headerOf(raw, "Content-Type") ?? "";
  const boundary = /^multipart\/mixed; boundary="([^"]+)"$/.exec(type)?.[1];
  if (boundary === undefined) return { texts: readMail(raw), files: [] };
  const [head = "", first = "", ...rest] = source.split(`\r\n--${boundary}`);
  if (rest.pop() !== "--\r\n") throw new Error("no end");
  const headers = head.slice(0, head.indexOf("Content-Type: multipart"));
  const texts = readMail(Buffer.from(headers + first.slice(2) + "\r\n", "latin1"));
  return { texts, files: rest.map(readFile) };
}

function readFile(part: string) {
  const [head = "", body = ""] = part.slice(2).split("\r\n\r\n", 2);
  expect(head).toContain("Content-Transfer-Encoding: base64");
  const lines = body.split("\r\n");
  expect(lines.every((line) => line.length <= 76)).toBe(true);
  const disposition = /Content-Disposition: attachment;([^]*)$/.exec(head.replace(/\r\n /g, " "))?.[1] ?? "";
  return { name: nameIn(disposition), sha256: sha256(Buffer.from(lines.join(""), "base64")) };
}

/** As RFC 2231 has it. */
function nameIn(disposition: string): string {
  const plain = /filename="([^"]*)"/.exec(disposition)?.[1];
  if (plain !== undefined) return plain;
  const pieces = [...disposition.matchAll(/filename(?:\*\d+)?\*=([^;\s]+)/g)].map(([, piece = ""]) => piece);
  return decodeURIComponent(pieces.join("").replace(/^utf-8''/, ""));
}

async function worldWith(port: number, settings = { attach: true }) {
  const world = new MailWorld(port);
  await world.addRecipient("ada@example.org", settings);
  const [submissionId = ""] = world.post(1, { message: "my papers" });
  const place = { endpointId: world.endpointId, submissionId };
  return { world, place, add: (name: string, bytes: Buffer) => addFile(world.db, place, { name, bytes }) };
}

test("an e-mail brings the files of its submission whole, whatever their names, if the recipient asked for it", async () => {
  const server = await startMailServer();
  const { world: made, add } = await worldWith(server.port);
  await using world = made;
  const names = [
    "cv.pdf",
    'a"b;\\c.pdf',
    `${"履".repeat(196)}.pdf`,
    "Ärger & Söhne.pdf",
    "ends\r\nBcc: eve@example.org",
  ];
  const files: { name: string; sha256: string }[] = [];
  for (const [index, name] of names.entries()) {
    const bytes = pdf(300_000 + index, name);
    await add(name, bytes);
    const isLong = name.length > 100;
    files.push({ name: isLong ? `${"履".repeat(79)}.pdf` : name, sha256: sha256(bytes) });
  }
  world.deliverer.start();
  await world.settle();
  const [mail] = server.received;
  const read = takeApart(mail?.raw ?? Buffer.alloc(0));
  const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
  expect(read.files.toSorted(byName)).toEqual(files.toSorted(byName));
  expect(read.texts.text).toContain("my papers");
  expect(read.texts.text).not.toContain("too large");
  expect(mail?.to).toEqual(["ada@example.org"]);
  expect(headerOf(mail?.raw ?? Buffer.alloc(0), "Bcc")).toBeNull();
});

test("a recipient who did not ask for files gets the same e-mail as ever", async () => {
  const server = await startMailServer();
  const { world: made, add } = await worldWith(server.port, { attach: false });
  await using world = made;
  await add("cv.pdf", pdf());
  world.deliverer.start();
  await world.settle();
  const [mail] = server.received;
  expect(takeApart(mail?.raw ?? Buffer.alloc(0)).files).toEqual([]);
});

test("files are attached under 5 MB in all, and a sentence leads to the others", async () => {
  const server = await startMailServer();
  const { world: made, add } = await worldWith(server.port);
  await using world = made;
  await add("first.pdf", pdf(3_000_000, "1"));
  await add("second.pdf", pdf(2_000_000, "2"));
  await add("third.pdf", pdf(1_999_999, "3"));
  world.deliverer.start();
  await world.settle();
  const [mail] = server.received;
  const { files, texts } = takeApart(mail?.raw ?? Buffer.alloc(0));
  expect(files.reduce((bytes, { name }) => bytes + (name === "first.pdf" ? 3_000_000 : 2_000_000), 0)).toBe(
    5_000_000,
  );
  expect(files.map(({ name }) => name)).toContain("third.pdf");
  expect(files).toHaveLength(2);
  expect(texts.text).toContain("Some files are too large for an e-mail: they are with the submission.");
});

test("an e-mail says what became of each file, brings none that nobody may open, and has no signed address", async () => {
  const server = await startMailServer();
  await using world = new MailWorld(server.port);
  await world.addRecipient("ada@example.org", { attach: true });
  const url = "https://forms.example.com/files/fil_1?until=1&sig=secret";
  const facts = (name: string, more: object) => ({
    id: newId("fil", NOON),
    name,
    size: 3072,
    type: "application/pdf",
    sha256: "00",
    ...more,
  });
  const cv = [
    facts("clean.pdf", { url }),
    facts("late.pdf", { state: "unscanned", url }),
    facts("bad.pdf", { state: "infected", verdict: "Eicar" }),
  ];
  const [submissionId = ""] = world.post(1, { cv });
  const place = { endpointId: world.endpointId, submissionId };
  await addFile(world.db, place, { name: "clean.pdf", bytes: pdf(3072) });
  const late = await addFile(world.db, place, { name: "late.pdf", bytes: pdf(3072, "b") });
  await world.db.transaction(() =>
    run(text("INSERT INTO file_scan (file_id, state, wait_until) VALUES (?, 'refused', 1)", late)),
  );
  world.deliverer.start();
  await world.settle();
  const { files, texts } = takeApart(server.received[0]?.raw ?? Buffer.alloc(0));
  expect(texts.text).toContain(
    "clean.pdf (3 KB), late.pdf (3 KB, not scanned for viruses), bad.pdf (3 KB, deleted: it had the virus Eicar)",
  );
  expect(files.map(({ name }) => name)).toEqual(["clean.pdf"]);
  for (const content of [texts.text, texts.html]) expect(content).not.toMatch(/sig=|\/files\//);
});

/** The content of each e-mail that a scripted server saw. */
function contents({ lines }: ScriptedServer): string[] {
  const text = lines.join("\n");
  return text
    .split(/^DATA$/m)
    .slice(1)
    .map((part) => part.split(/^\.$/m)[0] ?? "");
}

test("each attempt has the same bytes, whatever is set and comes in between", async () => {
  const server = await startScriptedServer({ content: "451 4.3.0 later" });
  const { world: made, add } = await worldWith(server.port);
  await using world = made;
  const id = await add("cv.pdf", pdf(400_000));
  world.deliverer.start();
  await world.settle();
  await add("late.pdf", pdf(900, "late"));
  await world.db.transaction(() => run(text("UPDATE mail_recipient SET attach = 0")));
  await world.restartMail();
  server.play({});
  await world.runUntil(world.clock.now() + MINUTE_MS);
  const sent = contents(server);
  expect([world.states(), sent.length]).toEqual([{ delivered: 1 }, 2]);
  expect(sent[1]).toBe(sent[0]);
  expect([sent[0]?.includes("cv.pdf"), id.startsWith("fil_")]).toEqual([true, true]);
});

test("a file that is erased between two attempts is sent to nobody any more", async () => {
  const server = await startScriptedServer({ RCPT: "450 4.2.0 greylisted" });
  const { world: made, add } = await worldWith(server.port);
  await using world = made;
  const id = await add("cv.pdf", pdf());
  await add("other.pdf", pdf(900, "other"));
  world.deliverer.start();
  await world.settle();
  await world.db.transaction(() => releaseFile(id));
  await dropFiles(world.db, [id]);
  server.play({});
  await world.runUntil(world.clock.now() + MINUTE_MS);
  const sent = contents(server).at(-1) ?? "";
  expect([sent.includes("cv.pdf"), sent.includes("other.pdf")]).toEqual([false, true]);
});

test.each(["552 5.3.4 message too big", "550 5.7.1 files like this are not taken"])(
  "a mail server that answers %s gets the e-mail without files, at once and at each later attempt",
  async (answer) => {
    const server = await startScriptedServer({ content: answer });
    const { world: made, add } = await worldWith(server.port);
    await using world = made;
    await add("cv.pdf", pdf());
    world.deliverer.start();
    await world.settle();
    server.play({});
    await world.runUntil(world.clock.now() + 30 * MINUTE_MS);
    const sent = contents(server);
    expect(world.states()).toEqual({ delivered: 1 });
    expect(sent.map((each) => each.includes("multipart/mixed"))).toEqual([true, false, false]);
    expect(sent[2]).toBe(sent[1]);
    expect(sent[2]).toContain("Some files are too large");
  },
);

test("the type of a part is a media type, or says nothing", () => {
  const typeOf = (type: string) => attachmentHeaders({ name: "a.pdf", type })[0];
  expect(typeOf("application/pdf")).toBe("Content-Type: application/pdf");
  expect(typeOf("text/plain\r\nBcc: eve@example.org")).toBe("Content-Type: application/octet-stream");
});

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("the files of a submission are chosen and read, and those of no other", async () => {
    const db = await temporary();
    const { endpointId } = await addPlace(db);
    const [own = "", other = ""] = await storeSubmissions(db, [{ endpointId }, { endpointId }]);
    const bytes = pdf(700_000);
    const id = await addFile(db, { endpointId, submissionId: own }, { name: "cv.pdf", bytes });
    await addFile(db, { endpointId, submissionId: other }, { name: "not-mine.pdf", bytes: pdf(900) });
    const attached = await db.read(() => chooseAttached(own));
    expect(attached).toEqual({ ids: [id], hasMore: false });
    const [file, ...more] = await readAttached(db, own, attached);
    expect([file?.name, more]).toEqual(["cv.pdf", []]);
    expect(sha256(Buffer.from(file?.lines.toString("latin1") ?? "", "base64"))).toBe(sha256(bytes));
  });

  test("a file that the store has lost is left out, and one that it cannot give now is tried again", async () => {
    const db = await temporary();
    const scripted = await startScriptedStore();
    const quiet = { onFailure() {}, onFault() {}, onRecovery() {} };
    const settings = () => ({ region: "us-east-1", prefix: "", pathStyle: true, ...scripted.settings });
    const store = new S3Store({ settings, takesNew: true, observer: quiet });
    setObjectStore(db, store);
    onTestFinished(() => store.close());
    const { endpointId } = await addPlace(db);
    const [submissionId = ""] = await storeSubmissions(db, [{ endpointId }]);
    const place = { endpointId, submissionId };
    const lost = await addFile(db, place, { name: "lost.pdf", bytes: pdf(900) });
    await addFile(db, place, { name: "kept.pdf", bytes: pdf(700) });
    await write(db, `DELETE FROM file_chunk WHERE file_id = '${lost}'`);
    await write(db, `UPDATE file SET object_id = '${lost}-0' WHERE id = '${lost}'`);
    const attached = await db.read(() => chooseAttached(submissionId));
    const read = await readAttached(db, submissionId, attached);
    expect(read.map(({ name }) => name)).toEqual(["kept.pdf"]);
    scripted.treat = () => "forbid";
    await expect(readAttached(db, submissionId, attached)).rejects.toMatchObject({ code: "unavailable" });
  });
});
