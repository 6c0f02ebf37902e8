import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readPlaceVariables } from "./server-variables.ts";
import { FormsvcError } from "../foundation/errors.ts";

/** A server that somebody logged in to, with the token that came of it. */
const contextShape = z.object({
  name: z.string(),
  /** Its address: scheme, host and port. */
  server: z.string(),
  token: z.string(),
  token_id: z.string(),
  /** Null is never. */
  expires_at: z.string().nullable(),
});

const fileShape = z.object({
  /** The name of the one that commands go to; null is the database of this machine. */
  in_use: z.string().nullable(),
  contexts: z.array(contextShape).max(100),
});
type Contexts = z.output<typeof fileShape>;

const NONE: Contexts = { in_use: null, contexts: [] };
const MAX_BYTES = 262_144;
/** Others than the owner may do nothing with the file. */
const OTHERS = 0o077;

/** None if there is no file. @throws usage if it is no file of ours, or if others can read it */
export function readContexts(): Contexts {
  const file = contextsFile();
  if (file === null) return NONE;
  let text: string;
  try {
    const { mode, size } = statSync(file);
    if (process.platform !== "win32" && (mode & OTHERS) !== 0)
      throw new FormsvcError("usage", `${file}: others can read its tokens; run: chmod 600 ${file}`);
    if (size > MAX_BYTES) throw new FormsvcError("usage", `${file}: larger than ${MAX_BYTES} bytes`);
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof FormsvcError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return NONE;
    throw new FormsvcError("usage", `${file}: cannot be read (${message})`, { cause: error });
  }
  return parseContexts(file, text);
}

function parseContexts(file: string, text: string): Contexts {
  try {
    return fileShape.parse(JSON.parse(text));
  } catch (error) {
    const advice = "remove the file";
    throw new FormsvcError("usage", `${file}: this is no list of contexts; ${advice}`, {
      cause: error,
    });
  }
}

/** Null if the system names no folder of this user. */
function contextsFile(): string | null {
  const { userFolder } = readPlaceVariables();
  return userFolder === null ? null : join(userFolder, "formsvc", "contexts.json");
}
