/** The settings of the mail server, ready for use: named files are read, and open choices are made. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly security: "tls" | "starttls" | "none";
  readonly login: SmtpLogin | null;
  /** The address in the From of every e-mail. */
  readonly from: string;
  /** The address that gets e-mails which could not be delivered. */
  readonly envelopeFrom: string;
  /** The name with which this machine greets (EHLO). */
  readonly ownName: string;
  readonly dkim: DkimKey | null;
  /** The time limit of one whole attempt, from the lookup of the host to the reply after the content. */
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
  /** An RSA key as PEM. */
  readonly privateKey: string;
}
