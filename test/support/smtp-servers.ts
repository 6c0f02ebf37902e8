import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { onTestFinished } from "vitest";
import type { SmtpSettings } from "../../src/mail/smtp-settings.ts";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
}

export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
}

/** A mail server on loopback that keeps what it gets, until the test ends. @param at its port; 0 takes a free one */
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
  // A client that ends a connection is the test's business.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(at, "127.0.0.1", resolve);
  });
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { port, received };
}

/** Settings for a server on loopback without TLS and login. */
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

/** What a scripted server does instead of its ordinary reply: other words; `drop` ends the connection, `silent` says nothing more. */
type Turn = string | ((socket: Socket) => void);

/** By the first word of a command; `greeting` before any, `content` at the end of an e-mail. */
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

/** Anything that is no command, such as TLS, has no reply. */
function ordinary(verb: string): string | undefined {
  return Object.hasOwn(ORDINARY, verb) ? ORDINARY[verb as Verb] : undefined;
}

export interface ScriptedServer {
  readonly port: number;
  /** Everything that clients sent, a line each. */
  readonly lines: readonly string[];
  /** Connections so far. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
  /** What happens from here on. */
  play(script: Script): void;
}

/** A mail server on loopback that keeps to a script, until the test ends. */
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
  // It passes on what the socket's own listener has heard.
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
