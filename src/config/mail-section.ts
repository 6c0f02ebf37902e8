import { isIP } from "node:net";
import { z } from "zod";
import { parseMailAddress } from "../foundation/mail-address.ts";

const count = z.int().min(1).max(1_000_000_000);
/** A limit of automatic replies. It has a maximum, because this many rows are counted to decide about a post. */
const replies = z.int().min(0).max(10_000);
const filePath = z.string().min(1).max(4096).nullable();
const labels = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;
const address = z
  .string()
  .max(320)
  .refine((text) => parseMailAddress(text) !== null, 'expected one address, like "forms@example.com"')
  .nullable();

/** The settings of e-mail, with their limits. Rules between them are in `check-server-config.ts`. */
export const mailSection = z.strictObject({
  host: z
    .string()
    .max(253)
    .refine(
      (text) => isIP(text) !== 0 || labels.test(text),
      "expected a host name or an address without port",
    )
    .nullable()
    .describe("The mail server (SMTP) that takes every e-mail; null sends none."),
  port: z
    .int()
    .min(1)
    .max(65_535)
    .describe("The port of the mail server: usually 587, or 465 for TLS from the first byte."),
  security: z
    .enum(["auto", "tls", "starttls", "none"])
    .describe(
      "`tls` encrypts from the first byte; `starttls` requires STARTTLS; `none` sends all in clear text. `auto` is `tls` on port 465, " +
        "`none` for a loopback host, and `starttls` elsewhere.",
    ),
  user: z
    .string()
    .min(1)
    .max(320)
    .nullable()
    .describe("The user name for the login at the mail server; null does not log in."),
  password: z.string().min(1).max(1024).nullable().describe("The password for that login."),
  passwordFile: filePath.describe("File with that password in its first line, instead of `mail.password`."),
  from: address.describe(
    "The address that every e-mail comes from; the mail server must let `mail.user` send from it.",
  ),
  envelopeFrom: address.describe(
    "The address to which e-mails that cannot be delivered come back; null is `mail.from`.",
  ),
  dkim: z.strictObject({
    domain: z
      .string()
      .max(253)
      .regex(labels, "expected a domain, like example.com")
      .nullable()
      .describe("The domain that signs each e-mail (DKIM): that of `mail.from`, or one above it."),
    selector: z
      .string()
      .max(63)
      .regex(labels, "expected a selector, like formsvc")
      .nullable()
      .describe("The name of the DKIM key: DNS has its public half at `<selector>._domainkey.<domain>`."),
    keyFile: filePath.describe(
      "File with the private RSA key as PEM; null for all three leaves signing to the mail server.",
    ),
  }),
  timeoutMs: z.int().min(1000).max(600_000).describe("Longest time for one attempt, in milliseconds."),
  limits: z.strictObject({
    total: z
      .int()
      .min(1)
      .max(100)
      .describe("E-mails sent at once, each over a connection of its own; workspaces share them."),
    perMinute: count.describe(
      "E-mails a minute about submissions. E-mails about accounts, and tests from the dashboard, are not counted in it: each of the two may have a quarter of this number on top.",
    ),
    perRecipientPerHour: count.describe("E-mails an hour to one recipient."),
    confirmationsPerHour: replies.describe(
      "E-mails an hour that ask new recipients whether they want submissions, for all accounts together except operators; 0 sends none.",
    ),
    repliesPerWorkspacePerHour: replies.describe(
      "Automatic replies an hour from all endpoints of one workspace together; 0 sends none.",
    ),
    repliesPerHour: replies.describe(
      "Automatic replies an hour from all workspaces together except those of operators; 0 sends none. This limit holds only while `dashboard.signUp` is `open`.",
    ),
  }),
  scheduleSeconds: z
    .array(z.number().min(0).max(604_800))
    .max(100)
    .describe("Delays between the attempts of an e-mail, in seconds; each may come up to a quarter later."),
  keepSentDays: z
    .int()
    .min(1)
    .max(3650)
    .nullable()
    .describe("Days that sent e-mails and their attempts are kept; null keeps them for ever."),
  operator: address.describe(
    "The address of whoever runs this server: it gets an e-mail about what `doctor` finds. It needs `mail.host`; null informs nobody.",
  ),
});

export type MailConfig = z.infer<typeof mailSection>;

/** The settings without a mail server. */
export const defaultMail: MailConfig = {
  host: null,
  port: 587,
  security: "auto",
  user: null,
  password: null,
  passwordFile: null,
  from: null,
  envelopeFrom: null,
  dkim: { domain: null, selector: null, keyFile: null },
  timeoutMs: 60_000,
  limits: {
    total: 2,
    perMinute: 60,
    perRecipientPerHour: 30,
    confirmationsPerHour: 60,
    repliesPerWorkspacePerHour: 100,
    repliesPerHour: 300,
  },
  scheduleSeconds: [60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 86_400, 86_400],
  keepSentDays: 30,
  operator: null,
};
