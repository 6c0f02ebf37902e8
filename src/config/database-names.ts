import { FormsvcError } from "../foundation/errors.ts";

/** The settings that name the database's file and its address, for messages; each is null if nothing sets it. */
export interface DatabaseNames {
  readonly path: string | null;
  readonly url: string | null;
}

interface Named {
  readonly path: boolean;
  readonly url: boolean;
}

const VARIABLES = { path: "FORMSVC_DATABASE_PATH", url: "FORMSVC_DATABASE_URL" } as const;

/**
 * Finds the settings that name the database.
 *
 * @param file its name for messages, and its content
 * @param environment the settings from variables, in the same structure
 * @throws config_invalid if one place sets both, because it is not known which is meant
 */
export function nameTheDatabase(
  file: { readonly name: string; readonly content: unknown },
  environment: unknown,
): DatabaseNames {
  const [inFile, inEnvironment] = [namedIn(file.content), namedIn(environment)];
  if (inFile.path && inFile.url)
    throw namedTwice(`${file.name}: database.path and database.url are both set; keep the one that is meant`);
  if (inEnvironment.path && inEnvironment.url)
    throw namedTwice(
      `${VARIABLES.path} and ${VARIABLES.url} are both set; unset the one that is not meant (in a file of variables: ${VARIABLES.path}=)`,
    );
  const nameOf = (which: keyof Named): string | null => {
    if (inEnvironment[which]) return VARIABLES[which];
    return inFile[which] ? `database.${which} in ${file.name}` : null;
  };
  return { path: nameOf("path"), url: nameOf("url") };
}

/**
 * A note for a person who named a file in one place and an address in another; null if there is nothing to say.
 *
 * @param used which of the two is used
 * @param by what names it, if that is neither a variable nor the file
 */
export function describeNames(
  names: DatabaseNames,
  used: keyof DatabaseNames,
  by = names[used],
): string | null {
  const over = names[used === "path" ? "url" : "path"];
  return by === null || over === null ? null : `the database is that of ${by}; ${over} is not used`;
}

function namedIn(content: unknown): Named {
  const { database } = (content ?? {}) as { readonly database?: unknown };
  const named = (typeof database === "object" && database !== null ? database : {}) as Record<
    string,
    unknown
  >;
  const isSet = (name: string): boolean => (named[name] ?? null) !== null;
  return { path: isSet("path"), url: isSet("url") };
}

function namedTwice(message: string): FormsvcError {
  return new FormsvcError("config_invalid", message);
}
