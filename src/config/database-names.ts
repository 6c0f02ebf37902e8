import { FormsvcError } from "../foundation/errors.ts";

/** What names the file and what names the address of the database, for messages; null if nothing does. */
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
 * @param file its name for messages, and its content. @param environment what the variables set, as the same object.
 * @throws config_invalid when one place names both: which of them is meant cannot be known.
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
 * The note for whoever named a file in one place and an address in another; null if there is nothing to say.
 *
 * @param used which of the two counts. @param by what names it, if it is neither variable nor file.
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
