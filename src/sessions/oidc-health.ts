import { FormsvcError } from "../foundation/errors.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { createIssuer } from "./oidc-issuer.ts";
import { type OidcConfig, readOidcSettings } from "./oidc-settings.ts";

const NAME = "oidc.issuer";

/** Reads the issuer's configuration, as the first sign-in does. */
export async function checkIssuer(oidc: OidcConfig): Promise<Finding[]> {
  try {
    const settings = readOidcSettings(oidc);
    if (settings === null) return [];
    await createIssuer(settings, { signedIn: "", signedOut: "" }, () => {}).look();
    return [sound(NAME, `${settings.issuer} says how people sign in there`)];
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
    const advice =
      error.code === "unavailable"
        ? "look whether it runs and can be reached from this machine; until then sign-in links that are made on the machine let people in"
        : "compare oidc.issuer with the address that the issuer names itself, and correct it";
    return [problem(NAME, error.message, advice)];
  }
}
