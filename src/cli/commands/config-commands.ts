import type { Command } from "commander";
import { readStoreSettings } from "../../app/open-objects.ts";
import { checkServerConfig } from "../../config/check-server-config.ts";
import { secretPaths } from "../../config/config.ts";
import { oidcReturnAddresses } from "../../config/dashboard-address.ts";
import { loadConfig } from "../../config/load-config.ts";
import { readSmtpSettings } from "../../mail/smtp/read-smtp-settings.ts";
import { parseDatabaseAddress } from "../../database/postgresql/address.ts";
import { createKeyring } from "../../secrets/keyring.ts";
import { readOidcSettings } from "../../sessions/oidc-settings.ts";
import { addNoun, command } from "../command.ts";
import { readSettings } from "../open.ts";

export function register(program: Command): void {
  addNoun(program, "config", "The configuration in force", [show, check]);
}

const show = command({
  usage: "show",
  isLocal: true,
  summary: "Print the configuration in force, from defaults, file and environment, with secrets left out",
  action: (context) => context.output.json(redact(readSettings(context), [])),
});

const check = command({
  usage: "check",
  isLocal: true,
  summary: "Check the configuration file and environment",
  action: (context) => {
    const { config, file, variables, unknownVariables } = loadConfig(context.configFile);
    createKeyring(config.secrets);
    if (config.database.url !== null) parseDatabaseAddress(config.database.url);
    checkServerConfig(config);
    readSmtpSettings(config.mail, config.server.baseUrl);
    if (config.files.s3.endpoint !== null) readStoreSettings(config.files.s3);
    const { issuer } = config.oidc;
    const { baseUrl } = config.server;
    const returns = issuer === null || baseUrl === null ? null : oidcReturnAddresses(baseUrl);
    // The issuer asks for these addresses before it hands out the secret.
    if (returns !== null && !context.output.isJson) {
      context.output.note(`the return address (redirect URI) for ${issuer} is ${returns.signedIn}`);
      context.output.note(
        `the address after signing out there (post-logout redirect URI) is ${returns.signedOut}`,
      );
    }
    readOidcSettings(config.oidc);
    if (context.output.isJson) {
      const oidc = returns && { return_address: returns.signedIn, signed_out_address: returns.signedOut };
      return context.output.json({
        valid: true,
        file,
        variables,
        unknown_variables: unknownVariables,
        ...(oidc !== null && { oidc }),
      });
    }
    const source = [file ?? "built-in defaults; no file was found", ...variables].join(", ");
    context.output.note(`the configuration is valid (${source})`);
    for (const name of unknownVariables) {
      context.output.note(`${name} names no setting and is not read; see formsvc help environment`);
    }
  },
});

function redact(value: unknown, path: readonly string[]): unknown {
  if (secretPaths.includes(path.join("."))) return value === null ? null : "[redacted]";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, below]) => [name, redact(below, [...path, name])]),
  );
}
