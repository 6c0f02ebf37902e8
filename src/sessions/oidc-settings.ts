import { FormsvcError } from "../foundation/errors.ts";
import { readSecretLine } from "../secrets/secret-file.ts";

/** The settings under `oidc`. */
export interface OidcConfig {
  readonly issuer: string | null;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly clientSecretFile: string | null;
  readonly label: string | null;
  readonly allowedDomains: readonly string[];
  readonly createAccounts: boolean;
  readonly groupsClaim: string;
  readonly operatorGroup: string | null;
  readonly trustSecondFactor: boolean;
}

/** The issuer of the configuration, with the settings of this server for it. */
export interface OidcSettings {
  /** The issuer's address as the issuer itself spells it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The name for people. */
  readonly label: string;
  /** Domains in lower case; if empty, every domain is allowed. */
  readonly allowedDomains: readonly string[];
  readonly createAccounts: boolean;
  readonly groupsClaim: string;
  readonly operatorGroup: string | null;
  readonly trustSecondFactor: boolean;
}

/**
 * Reads the settings of the issuer, with the file that they name; null if no issuer is configured.
 *
 * @throws config_invalid that says what is missing or wrong.
 */
export function readOidcSettings(oidc: OidcConfig): OidcSettings | null {
  const { issuer, clientId, label, allowedDomains, createAccounts } = oidc;
  const { groupsClaim, operatorGroup, trustSecondFactor } = oidc;
  if (issuer === null) return null;
  if (clientId === null)
    throw new FormsvcError("config_invalid", "oidc.clientId: set the id that the issuer gave this server");
  return {
    issuer,
    clientId,
    clientSecret: readClientSecret(oidc),
    label: label ?? new URL(issuer).host,
    allowedDomains: allowedDomains.map((domain) => domain.toLowerCase()),
    createAccounts,
    groupsClaim,
    operatorGroup,
    trustSecondFactor,
  };
}

function readClientSecret({ clientSecret, clientSecretFile }: OidcConfig): string {
  if (clientSecret !== null) return clientSecret;
  if (clientSecretFile === null)
    throw new FormsvcError(
      "config_invalid",
      "oidc.clientSecret: set the secret that the issuer gave this server",
    );
  return readSecretLine("oidc.clientSecretFile", clientSecretFile).trim();
}
