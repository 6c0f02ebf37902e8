import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says about where a command works. None of it is a setting of the configuration. */
export interface ServerVariables {
  /** `FORMSVC_SERVER`: the address of a server. */
  readonly server: string | null;
  /** `FORMSVC_TOKEN`: a token of that server. */
  readonly token: string | null;
  /** Whether a variable names a database or a configuration of this machine. */
  readonly namesDatabase: boolean;
  /** The folder in which programs of this user keep their configuration; null if the system does not say it. */
  readonly userFolder: string | null;
  /** The variable that says this folder. */
  readonly userFolderVariable: "APPDATA" | "HOME" | "XDG_CONFIG_HOME";
}

const DATABASE_VARIABLES = ["FORMSVC_DATABASE_PATH", "FORMSVC_DATABASE_URL", "FORMSVC_CONFIG"];

export function readServerVariables(env: Environment = process.env): ServerVariables {
  return {
    server: env["FORMSVC_SERVER"] || null,
    token: env["FORMSVC_TOKEN"] || null,
    namesDatabase: DATABASE_VARIABLES.some((name) => Boolean(env[name])),
    ...userFolder(env),
  };
}

/** The folder of the XDG base directory specification, or `APPDATA` on Windows. A relative path is ignored, as the specification asks. */
function userFolder(env: Environment): Pick<ServerVariables, "userFolder" | "userFolderVariable"> {
  const { XDG_CONFIG_HOME: named, APPDATA: ofWindows, HOME: home } = env;
  if (named?.startsWith("/") === true) return { userFolder: named, userFolderVariable: "XDG_CONFIG_HOME" };
  if (process.platform === "win32" && ofWindows)
    return { userFolder: ofWindows, userFolderVariable: "APPDATA" };
  return { userFolder: home ? join(home, ".config") : null, userFolderVariable: "HOME" };
}
