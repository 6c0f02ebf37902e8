import { createCipheriv, createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import type { Database } from "../../src/database/database.ts";
import { createFileRoom, type TakenFiles, type Uploading } from "../../src/files/file-room.ts";
import { newId } from "../../src/foundation/id.ts";
import { compileNetworks } from "../../src/foundation/ip-address.ts";
import { type FileStoring, storeFiles } from "../../src/submissions/receive/store-files.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { batchServer, type Place } from "./batch-world.ts";
import { NOON } from "./fake-clock.ts";

/** A form that asks for a document. */
export const applicationSchema: SchemaDefinition = {
  name: { type: "string", required: true },
  cv: { type: "file", required: true, maxBytes: 5_242_880, maxFiles: 2 },
};

/** A part of a form: a text, or a file with its name. */
export type UploadPart = string | { readonly name: string; readonly bytes: Buffer | string };

/** Makes a form with files as a browser sends it. */
export async function multipart(parts: readonly (readonly [field: string, part: UploadPart])[]) {
  const form = new FormData();
  for (const [field, part] of parts) {
    if (typeof part === "string") form.append(field, part);
    else form.append(field, new Blob([new Uint8Array(Buffer.from(part.bytes))]), part.name);
  }
  const response = new Response(form);
  const type = response.headers.get("content-type") ?? "";
  return { headers: { "content-type": type }, body: Buffer.from(await response.arrayBuffer()) };
}

/** Posts a form with files, which must be accepted. Returns the submission's id, and its files as its data name them. */
export async function postFiles(
  server: { readonly url: string },
  secret: string,
  parts: readonly (readonly [field: string, part: UploadPart])[],
): Promise<{ readonly id: string; readonly files: readonly PostedFacts[] }> {
  const authorization = `Bearer ${secret}`;
  const form = await multipart(parts);
  const headers = { authorization, ...form.headers };
  const answer = await fetch(`${server.url}/submit`, {
    method: "POST",
    headers,
    body: new Uint8Array(form.body),
  });
  const { submission_id: id } = (await answer.json()) as { submission_id?: string };
  if (id === undefined) throw new Error(`the post was answered ${answer.status}`);
  const shown = await fetch(`${server.url}/submissions/${id}`, { headers: { authorization } });
  const { data } = (await shown.json()) as { data: Record<string, unknown> };
  const files = Object.values(data).flatMap((value) =>
    Array.isArray(value) ? (value as PostedFacts[]) : [],
  );
  return { id, files };
}

/** A file as the data of its submission describe it. */
export interface PostedFacts {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly type: string;
  readonly sha256: string;
  readonly state?: string;
}

/** Makes a file of this size that is recognised as PDF. No two chunks of it are equal. */
export function pdf(size = 2000, seed = "a"): Buffer {
  const key = createHash("sha256").update(seed).digest();
  const bytes = createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(size));
  bytes.write("%PDF-1.7\n", 0, "latin1");
  return bytes;
}

export function sha256(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Makes a ZIP archive with these members. */
export function zip(members: Readonly<Record<string, string>>): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(members)) {
    const packed = deflateRawSync(content);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04_03_4b_50, 0);
    head.writeUInt16LE(20, 4);
    head.writeUInt16LE(8, 8);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(Buffer.byteLength(content), 22);
    head.writeUInt16LE(Buffer.byteLength(name), 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02_01_4b_50, 0);
    head.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(offset, 42);
    local.push(head, Buffer.from(name), packed);
    central.push(entry, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06_05_4b_50, 0);
  const count = Object.keys(members).length;
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}

const WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";

/** Makes a document of an office program. @param more further members of the archive */
export function docx(more: Readonly<Record<string, string>> = {}, type = WORD): Buffer {
  const types = `<?xml version="1.0"?><Types><Override PartName="/word/document.xml" ContentType="${type}"/></Types>`;
  return zip({ "[Content_Types].xml": types, "word/document.xml": "<w:document/>", ...more });
}

/** A picture of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Reads the files in the database: their rows, and the bytes of each by its id. */
export function storedFiles(db: SqliteDatabase) {
  const files = db.prepare("SELECT * FROM file ORDER BY id").all() as {
    readonly id: string;
    readonly submission_id: string | null;
    readonly state: string;
    readonly name: string;
    readonly size: number;
    readonly type: string;
    readonly sha256: string;
  }[];
  const chunks = db.prepare("SELECT file_id, bytes FROM file_chunk ORDER BY file_id, position").all() as {
    readonly file_id: string;
    readonly bytes: Buffer;
  }[];
  const bytesOf = (id: string): Buffer =>
    Buffer.concat(chunks.filter(({ file_id: of }) => of === id).map(({ bytes }) => bytes));
  return { files, chunks: chunks.length, bytesOf };
}

/** Makes the parts that store files on any engine, with limits that no test reaches. */
export function fileStoring(
  db: Database,
  commits: FileStoring["commits"],
): Omit<FileStoring, "linkFiles"> & { readonly dropped: TakenFiles[] } {
  const dropped: TakenFiles[] = [];
  const rules = {
    maxTotalBytes: 1e12,
    maxBytesPerAddressPerDay: null,
    maxFormShare: 1,
    exempt: compileNetworks([]),
  };
  return {
    commits,
    fileRoom: createFileRoom(db, rules),
    objects: null,
    dropFiles: (taken) => void dropped.push(taken),
    dropped,
  };
}

/** Makes an uploader to a form, without limits that count its files. */
export function uploadingTo(endpointId: string): Uploading {
  return { endpointId, workspaceId: "", planBytes: null, isPublishable: false, address: null };
}

/** Stores a submission with one file on any engine, as a server stores it. */
export async function addSubmissionWithFile(db: Database, place: Place, bytes: Buffer) {
  const { queue } = batchServer(db);
  const facts = {
    id: newId("fil", NOON),
    name: "cv.pdf",
    size: bytes.length,
    type: "application/pdf",
    sha256: sha256(bytes),
  };
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
  const taken = await storeFiles(fileStoring(db, queue), [{ facts, source: { size: bytes.length, read } }], {
    uploading: uploadingTo(place.endpointId),
    createdAt: NOON,
  });
  const fileIds = (taken?.files ?? []).map(({ id }) => id);
  const pending = place.pending();
  const outcome = await queue.add({ ...pending, fileIds });
  if (outcome !== "stored") throw new Error("the submission was not stored");
  return { submissionId: pending.submission.id, fileIds };
}
