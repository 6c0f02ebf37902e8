/** Everything about the mail server, ready for use: files are read, and what was left open is chosen. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly security: "tls" | "starttls" | "none";
  readonly login: SmtpLogin | null;
  /** The address in the From of every e-mail. */
  readonly from: string;
  /** Who gets what cannot be delivered. */
  readonly envelopeFrom: string;
  /** The name with which this machine greets (EHLO). */
  readonly ownName: string;
  readonly dkim: DkimKey | null;
  /** For one whole attempt: from the lookup of the host to the reply after the content. */
  readonly timeoutMs: number;
  /** The largest number of connections at once. */
  readonly connections: number;
}

export interface SmtpLogin {
  readonly user: string;
  readonly password: string;
}

export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  /** RSA, as PEM. */
  readonly privateKey: string;
}
