import { buffer } from "node:stream/consumers";
import type { DkimKey } from "./smtp-settings.ts";

/**
 * The headers that the signature covers if the e-mail has them: those that a reader sees, and those that RFC 8058 demands for
 * unsubscribing. The same bytes and key give the same signature.
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

/** Adds a DKIM signature (RFC 6376) to an e-mail. */
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
