import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, lstatSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { CopyProgress } from "./copy-database.ts";
import { removeCopy } from "./durable-file.ts";
import { createPrivately } from "./private-file.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/**
 * Backups while a server writes. A copy by another process would start again at each of the server's commits and never finish,
 * so the server makes it. A client (the owner or root) asks for one copy by connecting to the socket beside the database. The
 * server sends its progress and the path of the copy in lines of JSON, and removes the copy when the connection ends. It reads
 * nothing from the connection.
 */

/** The longest path of a socket that every system accepts, in bytes (macOS: 104 with the end mark). */
const MAX_SOCKET_PATH_BYTES = 103;
/** The largest number of connections at the same time; further ones are closed. */
const MAX_CONNECTIONS = 4;
/** Time between two progress messages. */
const PROGRESS_INTERVAL_MS = 1000;
/** If the server sends nothing for this time, the client gives up. */
const SILENCE_MS = 30_000;

interface CopyNews {
  readonly progress?: CopyProgress;
  /** The path of the finished copy. */
  readonly file?: string;
  readonly refused?: string;
}

export interface BackupSocket {
  /** Stops a copy that is being made, and removes the socket. */
  close(): Promise<void>;
}

/** The real path: two names of one file, through a symbolic link, must lead to the same socket. */
function realPathOf(databasePath: string): string {
  return existsSync(databasePath) ? realpathSync(databasePath) : databasePath;
}

/** The path of the socket; null if the system has no such sockets, or if the path would be too long. */
function socketPath(databasePath: string): string | null {
  const path = `${realPathOf(databasePath)}-control`;
  return process.platform === "win32" || Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES ? null : path;
}

/**
 * Opens the socket. Call it while holding the server's lock, because it removes what an earlier server left behind.
 *
 * @returns null if no socket is possible; backups are then made by `VACUUM INTO`.
 */
export async function openBackupSocket(db: SqliteDatabase): Promise<BackupSocket | null> {
  removeLeftCopies(realPathOf(db.path));
  const path = socketPath(db.path);
  if (path === null) return null;
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  let copying: Promise<void> = Promise.resolve();
  let busy = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    socket.resume();
    if (busy) return void socket.end(newsLine({ refused: "another backup is being made" }));
    busy = true;
    copying = serveCopy(db, socket).finally(() => {
      busy = false;
    });
    return undefined;
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listenPrivately(server, path);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await copying;
      await closed;
    },
  };
}

/**
 * Listens on a socket that only the owner may connect to. The umask is set while the socket is created, so that this is true from the first
 * moment.
 */
async function listenPrivately(server: Server, path: string): Promise<void> {
  const mask = process.umask(0o177);
  try {
    const listening = new Promise<void>((resolve, reject) => {
      server.once("listening", resolve).once("error", reject);
    });
    server.listen(path);
    await listening;
  } finally {
    process.umask(mask);
  }
  chmodSync(path, 0o600);
}

/** Makes a copy for a client. Never rejects: errors are sent to the client. */
async function serveCopy(db: SqliteDatabase, socket: Socket): Promise<void> {
  const file = `${realPathOf(db.path)}-copy-${randomUUID()}`;
  let reportedAt = 0;
  const gone = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  try {
    createPrivately(file);
    await db.copyTo(file, (progress) => {
      if (socket.destroyed) throw new Error("nobody waits for the copy any more");
      const now = performance.now();
      if (now - reportedAt < PROGRESS_INTERVAL_MS) return;
      reportedAt = now;
      socket.write(newsLine({ progress }));
    });
    socket.write(newsLine({ file }));
  } catch (error) {
    if (!socket.destroyed) socket.end(newsLine({ refused: (error as Error).message }));
  }
  await gone;
  removeCopy(file);
}

export interface ServedCopy {
  readonly file: string;
  /** Lets the server remove the copy, if it still exists. */
  release(): void;
}

/**
 * Asks the server of this database for a copy.
 *
 * @returns null if no server answers, or the reason why the server could not make one.
 */
export async function askForCopy(
  databasePath: string,
  onProgress: (progress: CopyProgress) => void,
  silenceMs = SILENCE_MS,
): Promise<ServedCopy | { readonly refused: string } | null> {
  const path = socketPath(databasePath);
  if (path === null) return null;
  const socket = connect(path);
  let end = "the server stopped meanwhile";
  socket.setTimeout(silenceMs, () => {
    end = "the server says nothing";
    socket.destroy();
  });
  socket.on("error", () => socket.destroy());
  const connected = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true)).once("close", () => resolve(false));
  });
  if (!connected) return null;
  const lines = createInterface({ input: socket });
  // A destroyed socket never emits its end, for which the loop would wait for ever.
  socket.once("close", () => lines.close());
  for await (const line of lines) {
    const news = JSON.parse(line) as CopyNews;
    if (news.progress !== undefined) onProgress(news.progress);
    if (news.refused !== undefined) {
      socket.destroy();
      return { refused: news.refused };
    }
    if (news.file !== undefined) {
      if (!isServedCopy(news.file, realPathOf(databasePath))) {
        socket.destroy();
        return { refused: "what it named is no copy of this database" };
      }
      socket.setTimeout(0);
      return { file: news.file, release: () => void socket.destroy() };
    }
  }
  return { refused: end };
}

const COPY_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * Whether the path is one that {@link serveCopy} makes. Root moves the file that the answer names. A user who may write in the folder can
 * answer instead of the server, and must not be able to make root move any other file.
 */
function isServedCopy(file: unknown, databasePath: string): boolean {
  const prefix = `${databasePath}-copy-`;
  return (
    typeof file === "string" &&
    file.startsWith(prefix) &&
    COPY_ID.test(file.slice(prefix.length)) &&
    lstatSync(file, { throwIfNoEntry: false })?.isFile() === true
  );
}

function newsLine(news: CopyNews): string {
  return `${JSON.stringify(news)}\n`;
}

function removeLeftCopies(databasePath: string): void {
  const folder = dirname(databasePath);
  const prefix = `${basename(databasePath)}-copy-`;
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix)) removeCopy(join(folder, name));
  }
}
