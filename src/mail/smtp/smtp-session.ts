import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { parseMailAddress } from "../../foundation/mail-address.ts";
import { parseReply, SmtpDialogue, type SmtpExchange } from "./smtp-dialogue.ts";
import { failureOf, SmtpFailure } from "./smtp-failure.ts";
import type { SmtpReply } from "./smtp-result.ts";
import type { SmtpLogin, SmtpSettings } from "./smtp-settings.ts";

/** A server that sends a longer reply is disconnected. */
const MAX_RESPONSE_BYTES = 65_536;
/** The time for the server to end a connection that this side has ended. */
const CLOSE_TIMEOUT_MS = 1000;
/** The time for one of several addresses of the server before the next one is tried. */
const ADDRESS_TIMEOUT_MS = 3000;
/** The login methods that need only a name and a password, the most common first. */
const LOGIN_METHODS = ["PLAIN", "LOGIN", "CRAM-MD5"];
/** The library can send a single command only as a custom login method, so this one sends the sender's address. */
const ASK_SENDER = "ASK-SENDER";
/** The text that the library logs in place of that command. */
const HIDDEN_COMMAND = "/* secret */";

/** One connection to the mail server. It cannot be used after a failure. */
export class SmtpSession {
  readonly #settings: SmtpSettings;
  readonly #dialogue: SmtpDialogue;
  #socket: Socket | null = null;
  #connection: SMTPConnection | null = null;
  #fail: (failure: SmtpFailure) => void = () => undefined;
  #interruption: SmtpFailure | null = null;
  #senderReply: SmtpReply | null = null;
  #sentCount = 0;
  #isOpen = false;

  constructor(settings: SmtpSettings, onExchange: (exchange: SmtpExchange) => void = () => undefined) {
    this.#settings = settings;
    this.#dialogue = new SmtpDialogue(onExchange);
  }

  /** False before it is opened, and after either side has ended it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The number of e-mails that the server has accepted over this connection. */
  get sentCount(): number {
    return this.#sentCount;
  }

  /** Connects, secures the connection and logs in. @throws SmtpFailure */
  async open(): Promise<void> {
    const socket = await this.#connectSocket();
    const connection = await this.#createConnection(socket);
    this.#connection = connection;
    connection.on("error", (error) => this.#fail(failureOf(error, this.#dialogue)));
    connection.on("end", () => {
      this.#isOpen = false;
    });
    await this.#step((done) => connection.connect(done));
    const { login } = this.#settings;
    if (login !== null) await this.#login(connection, login);
    this.#isOpen = true;
  }

  /** Sends one e-mail. @returns the server's reply to the whole message. @throws SmtpFailure */
  async send(to: string, raw: Buffer): Promise<SmtpReply | null> {
    this.#dialogue.enter("sender");
    if (parseMailAddress(to) !== to) throw SmtpFailure.byProblem("recipient", "EADDRESS", to);
    const envelope = { from: this.#settings.envelopeFrom, to: [to], size: raw.length };
    const info = await this.#step<{ response: string }>((done) => this.#opened.send(envelope, raw, done));
    this.#sentCount += 1;
    return parseReply(info.response);
  }

  /** Asks whether the server accepts our sender, and resets the transaction. @throws SmtpFailure */
  async trySender(): Promise<SmtpReply | null> {
    this.#dialogue.enter("sender");
    await this.#step((done) => this.#opened.login({ method: ASK_SENDER, user: "-", pass: "-" }, done));
    const reply = this.#senderReply;
    if (reply !== null && reply.code >= 400) throw SmtpFailure.byReply("sender", reply);
    await this.#step((done) => this.#opened.reset(done));
    return reply;
  }

  /** Says goodbye, and waits only a short time for the reply. */
  quit(): void {
    if (!this.#isOpen) return this.destroy();
    this.#isOpen = false;
    this.#opened.quit();
    const timer = setTimeout(() => this.destroy(), CLOSE_TIMEOUT_MS);
    this.#opened.once("end", () => clearTimeout(timer));
    return undefined;
  }

  destroy(): void {
    this.#isOpen = false;
    this.#connection?.close();
    this.#socket?.destroy();
  }

  /** Fails the step that is under way, and ends the connection. */
  interrupt(code: string, detail: string): void {
    this.#interruption = SmtpFailure.byProblem(this.#dialogue.stage, code, detail);
    this.#fail(this.#interruption);
    this.destroy();
  }

  get #senderCommand(): string {
    return `MAIL FROM:<${this.#settings.envelopeFrom}>`;
  }

  get #opened(): SMTPConnection {
    if (this.#connection === null) throw new Error("the session is not open");
    return this.#connection;
  }

  /** Connects with Node's own functions, which read the hosts file and try all addresses. */
  #connectSocket(): Promise<Socket> {
    const { host, port, security } = this.#settings;
    return this.#step<Socket>((done) => {
      const options = { host, port, autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS };
      const socket = connectTcp(options, () => {
        if (security !== "tls") return done(null, socket);
        this.#dialogue.enter("tls");
        const secured = connectTls({ socket, host, ...serverName(host) }, () => {
          this.#dialogue.enter("connect");
          done(null, secured);
        });
        return secured.on("error", done);
      });
      socket.on("error", done);
      this.#socket = socket;
    });
  }

  async #createConnection(connection: Socket): Promise<SMTPConnection> {
    const { host, port, security, ownName, timeoutMs } = this.#settings;
    // Loaded when the first e-mail is sent, so that a server without e-mail does not need it.
    const { default: Connection } = await import("nodemailer/lib/smtp-connection");
    const isSecured = security === "tls";
    return new Connection({
      connection,
      host,
      port,
      name: ownName,
      secure: isSecured,
      secured: isSecured,
      requireTLS: security === "starttls",
      ignoreTLS: security === "none",
      // Only the deadline of the attempt counts; these limits must not end it earlier.
      connectionTimeout: 2 * timeoutMs,
      greetingTimeout: 2 * timeoutMs,
      socketTimeout: 2 * timeoutMs,
      socketCloseTimeout: CLOSE_TIMEOUT_MS,
      maxResponseSize: MAX_RESPONSE_BYTES,
      transactionLog: true,
      logger: this.#createLogger(),
      customAuth: {
        [ASK_SENDER]: async (context) => {
          this.#senderReply = parseReply((await context.sendCommand(this.#senderCommand)).response);
        },
      },
    });
  }

  /** A logger for the library, which logs each line of both sides without secrets. */
  #createLogger() {
    const ignore = (): void => undefined;
    const debug = (entry: { readonly tnx?: unknown }, line: unknown): void => {
      const text = typeof line === "string" ? line : "";
      if (entry.tnx === "client") this.#dialogue.sent(text === HIDDEN_COMMAND ? this.#senderCommand : text);
      else if (entry.tnx === "server") this.#dialogue.received(text);
    };
    return { trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore };
  }

  async #login(connection: SMTPConnection, { user, password: pass }: SmtpLogin): Promise<void> {
    this.#dialogue.enter("login");
    const offered =
      /^250[ -]AUTH[ =](.*)$/im.exec(this.#dialogue.offer)?.[1]?.toUpperCase().split(/\s+/) ?? [];
    const method = LOGIN_METHODS.find((each) => offered.includes(each));
    if (method === undefined) {
      const detail = offered.length === 0 ? "no login is offered" : `offered are ${offered.join(", ")}`;
      throw SmtpFailure.byProblem("login", "ENOLOGIN", detail);
    }
    await this.#step((done) => connection.login({ method, user, pass }, done));
  }

  /** Runs one step. An error comes to the step's callback, to the connection's event, or to both; the first one counts. */
  #step<Result>(start: (done: (error?: Error | null, result?: Result) => void) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#interruption !== null) return reject(this.#interruption);
      this.#fail = reject;
      start((error, result) => {
        if (error === null || error === undefined) resolve(result as Result);
        else reject(failureOf(error, this.#dialogue));
      });
      return undefined;
    });
  }
}

/** The server name for TLS. An IP address is none. */
function serverName(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}
