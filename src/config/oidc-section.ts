import { z } from "zod";
import { isThisMachine } from "../foundation/ip-address.ts";

const text = z.string().min(1).max(1024);

/** Whether tokens may be fetched from an address: it is https, or on this machine, for trying out. */
function isIssuer(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, search, hash, username, password } = new URL(address);
  if (`${search}${hash}${username}${password}` !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isThisMachine(hostname.replace(/^\[|\]$/g, "")));
}

/**
 * The settings for signing in through an issuer of OpenID Connect, with their limits. Rules between them are in `check-server-config.ts`.
 */
export const oidcSection = z.strictObject({
  issuer: z
    .string()
    .max(1024)
    .refine(
      isIssuer,
      "expected an https address without a query, as the issuer writes it (http on this machine only)",
    )
    .nullable()
    .describe(
      "The OpenID issuer at which people sign in, like `https://login.example.com`, written as the issuer itself writes it; null offers no such sign-in. It needs `server.baseUrl`.",
    ),
  clientId: text.nullable().describe("The id that the issuer gave this server."),
  clientSecret: text.nullable().describe("The secret that the issuer gave this server."),
  clientSecretFile: z
    .string()
    .min(1)
    .max(4096)
    .nullable()
    .describe("File with that secret in its first line, instead of `oidc.clientSecret`."),
  label: z
    .string()
    .min(1)
    .max(60)
    .nullable()
    .describe("The name of the issuer on the sign-in page; null shows its host name."),
  allowedDomains: z
    .array(
      z
        .string()
        .max(253)
        .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i, "expected a domain, like example.com"),
    )
    .max(1000)
    .describe("Domains of the addresses that may sign in by the issuer; an empty list allows all."),
  createAccounts: z
    .boolean()
    .describe("Whether somebody who has no account gets one, with a workspace, at their first sign-in."),
  groupsClaim: text.describe("The name of the claim that lists the groups of whoever signs in."),
  operatorGroup: text
    .nullable()
    .describe(
      "The group whose members are operators. It is checked at each sign-in: whoever left the group is an operator no more, unless they became one in another way. Null leaves operators as they are.",
    ),
  trustSecondFactor: z
    .boolean()
    .describe(
      "If true, the server does not ask for the second factor of an account when the issuer says that it asked for one (`mfa` in the claim `amr`).",
    ),
});

/** The settings without an issuer. */
export const defaultOidc: z.infer<typeof oidcSection> = {
  issuer: null,
  clientId: null,
  clientSecret: null,
  clientSecretFile: null,
  label: null,
  allowedDomains: [],
  createAccounts: false,
  groupsClaim: "groups",
  operatorGroup: null,
  trustSecondFactor: false,
};
