import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { FormsvcError } from "../../foundation/errors.ts";
import { contextsFile, type ContextsText, readContextsFile } from "./contexts-file.ts";

/** A server that somebody logged in to, with the token of the login. */
const contextShape = z.object({
  name: z.string(),
  /** The server's address: scheme, host and port. */
  server: z.string(),
  token: z.string(),
  token_id: z.string(),
  /** Null means that the token never expires. */
  expires_at: z.string().nullable(),
});
export type ServerContext = z.output<typeof contextShape>;

const fileShape = z.object({
  /** The name of the context that commands use; null means the database of this machine. */
  in_use: z.string().nullable(),
  contexts: z.array(contextShape).max(100),
});
export type Contexts = z.output<typeof fileShape>;

/** Stands for the database of this machine. No context can have this name. */
export const HERE = "here";

/** Reads the contexts; there are none if there is no file. @throws usage if the file is not ours, or if other users can read it */
export function readContexts(): Contexts {
  return parseContexts(readContextsFile());
}

/** @throws usage */
export function parseContexts(found: ContextsText | null): Contexts {
  if (found === null) return { in_use: null, contexts: [] };
  try {
    return fileShape.parse(JSON.parse(found.text));
  } catch (error) {
    const advice = "remove the file and log in again";
    throw new FormsvcError("usage", `${found.file}: this is not what formsvc login writes; ${advice}`, {
      cause: error,
    });
  }
}

/** Replaces the file in one step, with mode 0600. @throws usage if the user has no folder for it, or it cannot be written */
export function writeContexts(contexts: Contexts): void {
  const file = contextsFile();
  if (file === null)
    throw new FormsvcError("usage", "there is no folder for the login: set HOME or XDG_CONFIG_HOME");
  const unfinished = `${file}.${randomUUID()}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const fd = openSync(unfinished, "wx", 0o600);
    try {
      writeSync(fd, `${JSON.stringify(contexts, null, 2)}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    chmodSync(unfinished, 0o600);
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new FormsvcError("usage", `${file}: cannot be written (${(error as Error).message})`, {
      cause: error,
    });
  }
}

/** @throws not_found */
export function getContext({ contexts }: Contexts, name: string): ServerContext {
  const found = contexts.find((each) => each.name === name);
  if (found === undefined)
    throw new FormsvcError("not_found", `there is no context ${name}; see: formsvc context list`);
  return found;
}
