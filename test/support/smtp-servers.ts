import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { onTestFinished } from "vitest";
import type { SmtpSettings } from "../../src/mail/smtp/smtp-settings.ts";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
}

export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
}

/**
 * Starts a mail server on loopback, which keeps the mail that it gets, until the end of the test. @param at its port; 0 chooses a free one
 */
export async function startMailServer(options: SMTPServerOptions = {}, at = 0): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, callback) {
      const { mailFrom, rcptTo } = session.envelope;
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const from = mailFrom === false ? "" : mailFrom.address;
        received.push({ from, to: rcptTo.map(({ address }) => address), raw: Buffer.concat(chunks) });
        callback(null, "queued");
      });
    },
    ...options,
  });
  // Tests themselves check what happens if a client ends a connection.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(at, "127.0.0.1", resolve);
  });
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { port, received };
}

/** Settings for a server on loopback, without TLS and without login. */
export function plainSettings(port: number, change: Partial<SmtpSettings> = {}): SmtpSettings {
  return {
    host: "127.0.0.1",
    port,
    security: "none",
    login: null,
    from: "forms@example.com",
    envelopeFrom: "forms@example.com",
    ownName: "forms.example.com",
    dkim: null,
    timeoutMs: 10_000,
    connections: 2,
    ...change,
  };
}

/** The reply of a scripted server instead of its ordinary one. `drop` ends the connection; after `silent` the server sends nothing more. */
type Turn = string | ((socket: Socket) => void);

/** Replies by the first word of a command. `greeting` is sent before any command, `content` at the end of an e-mail. */
export type Script = Readonly<Partial<Record<Verb, Turn>>>;
type Verb =
  | "greeting"
  | "EHLO"
  | "HELO"
  | "AUTH"
  | "STARTTLS"
  | "MAIL"
  | "RCPT"
  | "DATA"
  | "content"
  | "RSET"
  | "QUIT";

const ORDINARY: Readonly<Record<Verb, string>> = {
  greeting: "220 scripted",
  EHLO: "250-scripted\r\n250 PIPELINING",
  HELO: "250 scripted",
  AUTH: "235 welcome",
  STARTTLS: "502 no",
  MAIL: "250 sender fine",
  RCPT: "250 recipient fine",
  DATA: "354 go on",
  content: "250 queued",
  RSET: "250 forgotten",
  QUIT: "221 bye",
};

/** The ordinary reply to a command; undefined for anything that is not a command, such as the bytes of TLS. */
function ordinary(verb: string): string | undefined {
  return Object.hasOwn(ORDINARY, verb) ? ORDINARY[verb as Verb] : undefined;
}

export interface ScriptedServer {
  readonly port: number;
  /** Every line that clients sent. */
  readonly lines: readonly string[];
  /** Returns the number of connections so far. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
  /** Replaces the script from now on. */
  play(script: Script): void;
}

/** Starts a mail server on loopback that follows a script, until the end of the test. */
export async function startScriptedServer(first: Script = {}): Promise<ScriptedServer> {
  let script = first;
  let count = 0;
  const lines: string[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    count += 1;
    serveScript(socket, () => script, lines);
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    lines,
    connections: () => count,
    close,
    play: (next) => {
      script = next;
    },
  };
}

function serveScript(socket: Socket, script: () => Script, lines: string[]): void {
  let isContent = false;
  let isRefused = false;
  let isSilent = false;
  const take = (verb: Verb): void => {
    const turn = script()[verb] ?? (verb === "DATA" && isRefused ? "503 nobody to send to" : ordinary(verb));
    isSilent ||= turn === "silent";
    if (isSilent || turn === undefined || !socket.writable) return undefined;
    if (typeof turn === "function") return turn(socket);
    if (turn === "drop") return void socket.destroy();
    isContent = verb === "DATA" && turn.startsWith("354");
    if (verb === "MAIL") isRefused = false;
    if ((verb === "MAIL" || verb === "RCPT") && !turn.startsWith("2")) isRefused = true;
    socket.write(`${turn}\r\n`);
    return verb === "QUIT" ? void socket.end() : undefined;
  };
  socket.on("error", () => undefined);
  const reader = createInterface({ input: socket });
  // The reader repeats the errors of the socket, which the socket's own listener has handled.
  reader.on("error", () => undefined);
  reader.on("line", (line) => {
    lines.push(line);
    if (!isContent) take((line.split(" ")[0] ?? "") as Verb);
    else if (line === ".") {
      isContent = false;
      take("content");
    }
  });
  take("greeting");
}
