import { buffer } from "node:stream/consumers";
import type { DkimKey } from "./smtp-settings.ts";

/**
 * What the signature covers, as far as the e-mail has it: what a reader sees, and what RFC 8058 demands for unsubscribing. The same
 * bytes and key give the same signature.
 */
const SIGNED_HEADERS = [
  "From",
  "Reply-To",
  "Subject",
  "Date",
  "Message-ID",
  "To",
  "MIME-Version",
  "Content-Type",
  "Auto-Submitted",
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
].join(":");

/** The e-mail with its DKIM signature (RFC 6376). */
export async function signMail(raw: Buffer, { domain, selector, privateKey }: DkimKey): Promise<Buffer> {
  const { default: DKIM } = await import("nodemailer/lib/dkim");
  const signer = new DKIM({
    domainName: domain,
    keySelector: selector,
    privateKey,
    headerFieldNames: SIGNED_HEADERS,
  });
  return buffer(signer.sign(raw));
}
