import { FormsvcError } from "../../foundation/errors.ts";

/** Refuses a compressed body, because its size would have no bound. @throws unsupported_media_type */
export function checkEncoding(header: string | undefined): void {
  if (header === undefined || header.toLowerCase() === "identity") return;
  throw new FormsvcError("unsupported_media_type", "Send the body as it is, without Content-Encoding.");
}
