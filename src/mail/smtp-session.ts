import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { parseMailAddress } from "../foundation/mail-address.ts";
import { parseReply, SmtpDialogue, type SmtpExchange } from "./smtp-dialogue.ts";
import { failureOf, SmtpFailure } from "./smtp-failure.ts";
import type { SmtpReply } from "./smtp-result.ts";
import type { SmtpLogin, SmtpSettings } from "./smtp-settings.ts";

/** A server that says more in one reply is dropped. */
const MAX_RESPONSE_BYTES = 65_536;
/** How long a server may take to end a connection that we ended. */
const CLOSE_TIMEOUT_MS = 1000;
/** How long one of several addresses of the server may take before the next is tried. */
const ADDRESS_TIMEOUT_MS = 3000;
/** Logins that need no more than a name and a password, the most common first. */
const LOGIN_METHODS = ["PLAIN", "LOGIN", "CRAM-MD5"];
/** The library sends a single command only for a login of one's own: this one asks for the sender. */
const ASK_SENDER = "ASK-SENDER";
/** What the library logs for it. */
const HIDDEN_COMMAND = "/* secret */";

/** One connection to the mail server. After a failure it is of no more use. */
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

  /** False before it is opened, and when either side has ended it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** E-mails that the server took from it. */
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

  /** @returns the server's reply to the whole message. @throws SmtpFailure */
  async send(to: string, raw: Buffer): Promise<SmtpReply | null> {
    this.#dialogue.enter("sender");
    if (parseMailAddress(to) !== to) throw SmtpFailure.byProblem("recipient", "EADDRESS", to);
    const envelope = { from: this.#settings.envelopeFrom, to: [to], size: raw.length };
    const info = await this.#step<{ response: string }>((done) => this.#opened.send(envelope, raw, done));
    this.#sentCount += 1;
    return parseReply(info.response);
  }

  /** Asks whether the server takes our sender, and forgets the answer. @throws SmtpFailure */
  async trySender(): Promise<SmtpReply | null> {
    this.#dialogue.enter("sender");
    await this.#step((done) => this.#opened.login({ method: ASK_SENDER, user: "-", pass: "-" }, done));
    const reply = this.#senderReply;
    if (reply !== null && reply.code >= 400) throw SmtpFailure.byReply("sender", reply);
    await this.#step((done) => this.#opened.reset(done));
    return reply;
  }

  /** Says goodbye, and does not wait for long. */
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

  /** Ends the step that is under way, and the connection. */
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

  /** Connects with the means of the system, which know its hosts file and try all addresses. */
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
    // Loaded when the first e-mail is sent: an idle server does without.
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
      // The one deadline of the attempt counts; these only must not end it before.
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

  /** The library writes each line of the two sides to its log, secrets left out. */
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

  /** Errors come to the step's callback, to the connection's event, or to both; the first counts. */
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

/** An address is no name that TLS could ask for. */
function serverName(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}
