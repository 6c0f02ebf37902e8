import { createHash, type Hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { BusboyInstance } from "@fastify/busboy";
import { createYoungCollector } from "../../foundation/collect-young.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { spoolIsFull, type Uploads } from "../../files/uploads.ts";
import type { Reservation, Uploader } from "../../files/spool-room.ts";
import type { Spool } from "../../files/spool.ts";
import type { FileField } from "../../schemas/field-definition.ts";
import type { FileFault } from "../../schemas/posted-file.ts";
import { TOKEN_MEMBERS } from "../../spam/spam-post.ts";
import type { FormEntry } from "../../submissions/receive/coerce-form.ts";
import type { IncomingFile } from "../../submissions/receive/incoming-file.ts";
import { createParser, malformed, tooManyEntries } from "./form-body.ts";
import { createTurnSharing } from "../connections/share-turns.ts";

/** A form that was sent with files. */
export interface UploadBody {
  /** The inputs that could be read. They are there even if there is a problem, so that a page can show them again. */
  readonly entries: readonly FormEntry[];
  readonly files: readonly IncomingFile[];
  /**
   * Bytes that are equal for the same form whatever its boundary is, and whatever token the service of a challenge gave it. They are
   * compared for its Idempotency-Key.
   */
  readonly identity: Buffer;
  /** Why the form must be refused; null if nothing is wrong. */
  readonly problem: FormsvcError | null;
  /** Whether a part of the body was not read. */
  readonly isCut: boolean;
  /** Whether somebody may have chosen a file: the part that was read has one, or a part was not read. */
  readonly mayHaveFiles: boolean;
  /** Releases the room of the files. Call it when the post is stored or refused. */
  close(): Promise<void>;
}

export interface UploadParts {
  readonly uploads: Uploads;
  readonly sender: Uploader;
  /** The room in the spool that is reserved for the form's files. */
  readonly reservation: Reservation | null;
  /** The file fields of the form, by name. */
  readonly fields: ReadonlyMap<string, FileField>;
  /** Finds the name of the field that an input belongs to. */
  readonly fieldOf: (inputName: string) => string;
  /** The limit of all names and texts together, in bytes. */
  readonly textLimitBytes: number;
  /** Why a file is refused from its first byte on; null if no reason is known yet. */
  readonly refusal: FormsvcError | null;
  /** Whether a form whose files are refused is read on for its texts. */
  readonly readsOn: boolean;
}

/**
 * Reads a form with files as its bytes arrive; the spool bounds how many of them are in memory. Reading stops at the first byte beyond a
 * limit.
 *
 * @throws the error of the request's stream if the client leaves
 */
export async function readUpload(request: IncomingMessage, parts: UploadParts): Promise<UploadBody> {
  const spool = parts.uploads.open(parts.sender, parts.reservation);
  try {
    const draft = new Draft(parts, spool);
    const isCut = await draft.readAll(request);
    const files = draft.problem === null ? await draft.checkFiles() : [];
    const { entries, problem } = draft;
    const mayHaveFiles = isCut || draft.hasFiles;
    const identity = draft.identity();
    return { entries, files, identity, problem, isCut, mayHaveFiles, close: () => spool.close() };
  } catch (error) {
    await spool.close();
    throw error;
  }
}

/** A file that is being read. */
interface FileDraft {
  readonly input: string;
  readonly name: string;
  /**
   * The offset in the spool of the file's first byte. It is set when that byte comes, because the parser reports a file before the bytes of
   * the file before it have come.
   */
  start: number;
  readonly hash: Hash;
  /** The field of the form that takes the file; undefined if none does. */
  readonly field: FileField | undefined;
  size: number;
  keptBytes: number;
  fault: FileFault | null;
}

/** One collector for all uploads of this process. */
const noteRead = createYoungCollector();
/** One order for all uploads: when eight of them read a part in the same turn, other posts waited twice as long. */
const waitInLine = createTurnSharing();

/** The limit, in largest posts, up to which a refused form is read on for what was typed. */
export const MAX_READ_ON = 2;

/** The content of a form while it is read. */
class Draft {
  readonly entries: FormEntry[] = [];
  problem: FormsvcError | null = null;
  readonly #parts: UploadParts;
  readonly #spool: Spool;
  readonly #files: FileDraft[] = [];
  /** Every part in its order: a text or a file. */
  readonly #order: (FormEntry | FileDraft)[] = [];
  #textBytes = 0;
  #isHopeless = false;

  constructor(parts: UploadParts, spool: Spool) {
    this.#parts = parts;
    this.#spool = spool;
  }

  get hasFiles(): boolean {
    return this.#files.length > 0;
  }

  /** Returns whether a part of the body was left unread. */
  async readAll(request: IncomingMessage): Promise<boolean> {
    const { maxPostBytes } = this.#parts.uploads.limits;
    const parser = createParser(request.headers["content-type"] ?? "", this.#parts.textLimitBytes);
    if (parser === null) {
      this.problem = malformed(BROKEN);
      return true;
    }
    const ended = this.#listen(parser);
    let bytes = 0;
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      await waitInLine();
      bytes += chunk.length;
      if (bytes > maxPostBytes) this.#refuse(postTooLarge(maxPostBytes));
      if (this.problem !== null && !this.#mayReadOn(bytes)) break;
      await Promise.race([new Promise<void>((resolve) => parser.write(chunk, () => resolve())), ended]);
      await this.#settle();
      noteRead(chunk.length);
    }
    if (this.problem !== null && !this.#mayReadOn(bytes)) {
      parser.destroy();
      return !request.readableEnded;
    }
    parser.end();
    await ended;
    await this.#settle();
    return false;
  }

  /** Whether reading goes on for what was typed although the files are refused. No further byte of a file is kept. */
  #mayReadOn(bytes: number): boolean {
    const { readsOn, uploads } = this.#parts;
    return readsOn && !this.#isHopeless && bytes <= MAX_READ_ON * uploads.limits.maxPostBytes;
  }

  /** Resolves when the parser has ended, with or without an error. */
  #listen(parser: BusboyInstance): Promise<void> {
    parser.on("field", (name: string | undefined, value) => {
      // A part without a name is an error besides.
      if (name !== undefined) this.#addText(name.toWellFormed(), value.toWellFormed());
    });
    parser.on("file", (name: string | undefined, stream, filename: string | undefined) =>
      this.#addFile((name ?? "").toWellFormed(), filename ?? "", stream),
    );
    const overflow = (): void => this.#giveUp(tooManyEntries());
    parser.on("fieldsLimit", overflow).on("partsLimit", overflow);
    return new Promise((resolve) => {
      parser.on("finish", resolve).on("close", resolve);
      parser.on("error", () => {
        this.#giveUp(malformed(BROKEN));
        resolve();
      });
    });
  }

  #addText(name: string, value: string): void {
    this.#textBytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (this.#textBytes > this.#parts.textLimitBytes) this.#giveUp(textTooLarge(this.#parts.textLimitBytes));
    if (this.#isHopeless) return;
    this.entries.push([name, value]);
    this.#order.push([name, value]);
  }

  #addFile(input: string, name: string, stream: Readable): void {
    const { fields, fieldOf, uploads } = this.#parts;
    const field = fields.get(fieldOf(input));
    const fault = this.#files.length >= uploads.limits.maxFiles ? "count" : null;
    const file = {
      input,
      name,
      start: 0,
      hash: createHash("sha256"),
      field,
      size: 0,
      keptBytes: 0,
      fault,
    } as FileDraft;
    this.#textBytes += Buffer.byteLength(input) + Buffer.byteLength(name);
    if (this.#textBytes > this.#parts.textLimitBytes) this.#giveUp(textTooLarge(this.#parts.textLimitBytes));
    // For an empty file input a browser sends a part without a file name and without content.
    const add = (): void => {
      this.#files.push(file);
      this.#order.push(file);
    };
    if (name !== "") add();
    stream.on("data", (bytes: Buffer) => {
      if (name === "" && file.size === 0) add();
      this.#addBytes(file, bytes);
    });
    stream.on("error", () => {});
  }

  #addBytes(file: FileDraft, bytes: Buffer): void {
    const { refusal, uploads } = this.#parts;
    if (refusal !== null && file.field !== undefined) this.#refuse(refusal);
    if (this.problem !== null) return;
    const { maxFileBytes } = uploads.limits;
    file.size += bytes.length;
    if (file.size > maxFileBytes) return this.#refuse(fileTooLarge(file, maxFileBytes));
    file.hash.update(bytes);
    if (file.size > (file.field?.maxBytes ?? maxFileBytes)) file.fault ??= "size";
    if (file.field === undefined || file.fault !== null) return;
    if (file.keptBytes === 0) file.start = this.#spool.size;
    // Bytes of two files never alternate, because each file would get bytes of the other.
    if (file.start + file.keptBytes !== this.#spool.size) return this.#refuse(new FormsvcError("internal"));
    const crowd = this.#spool.append(bytes);
    if (crowd !== null) this.#refuse(spoolIsFull(crowd));
    else file.keptBytes += bytes.length;
  }

  async #settle(): Promise<void> {
    try {
      await this.#spool.settle();
    } catch (cause) {
      this.#refuse(
        new FormsvcError("unavailable", "The server has no room for files now.", {
          retryAfterSeconds: 60,
          cause,
        }),
      );
    }
  }

  /** Notes the problem of the form if it is the first one. */
  #refuse(problem: FormsvcError): void {
    this.problem ??= problem;
  }

  /** Refuses the form for a reason that leaves nothing to show again. */
  #giveUp(problem: FormsvcError): void {
    this.#isHopeless = true;
    this.#refuse(problem);
  }

  async checkFiles(): Promise<IncomingFile[]> {
    const checked: IncomingFile[] = [];
    for (const file of this.#files) {
      const { input, name, size, fault } = file;
      const source = this.#spool.source(file.start, file.keptBytes);
      const read = { name, size, fault, source, sha256: digestOf(file) };
      const posted = file.field === undefined ? null : await this.#parts.uploads.check(read, file.field);
      checked.push({ field: this.#parts.fieldOf(input), posted, name, size, source });
    }
    return checked;
  }

  identity(): Buffer {
    const parts = this.#order.flatMap((part): unknown[] => {
      if ("hash" in part) return [{ field: part.input, file: part.name, sha256: digestOf(part) }];
      return TOKEN_MEMBERS.has(part[0]) ? [] : [part];
    });
    return Buffer.from(JSON.stringify(parts));
  }
}

function digestOf({ hash }: FileDraft): string {
  return hash.copy().digest("hex");
}

const BROKEN = "The form's body is not valid multipart/form-data.";

/** Thrown before a byte is read if the headers say the length. */
export function postTooLarge(maxBytes: number): FormsvcError {
  return new FormsvcError(
    "payload_too_large",
    `The form and its files are larger than the ${maxBytes} bytes that this server accepts at once (files.maxPostBytes).`,
    { details: { limit: "files.maxPostBytes", maximum: maxBytes } },
  );
}

function textTooLarge(maxBytes: number): FormsvcError {
  return new FormsvcError(
    "payload_too_large",
    `The texts of the form are larger than the ${maxBytes} bytes that this server accepts beside files (server.bodyLimitBytes).`,
    { details: { limit: "server.bodyLimitBytes", maximum: maxBytes } },
  );
}

/** The largest part of a stranger's file name that a message repeats. */
const MAX_SHOWN_LENGTH = 100;

function fileTooLarge({ input, name }: FileDraft, maxBytes: number): FormsvcError {
  const [field, file] = [input, name].map((text) => text.slice(0, MAX_SHOWN_LENGTH).toWellFormed());
  return new FormsvcError(
    "payload_too_large",
    `The file "${file}" in the field "${field}" is larger than the ${maxBytes} bytes that this server accepts of a file (files.maxFileBytes).`,
    { details: { limit: "files.maxFileBytes", maximum: maxBytes, field, file } },
  );
}
