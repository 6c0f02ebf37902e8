import { z } from "zod";

/** Headers that have another meaning, or that clients set. */
const TAKEN =
  /^(?:accept|authorization|connection|content-.*|cookie|host|origin|referer|sec-.*|user-agent|x-forwarded-.*)$/i;

const headerName = z
  .string()
  .max(100)
  .refine(
    (name) => /^[a-z][a-z0-9-]*$/i.test(name) && !TAKEN.test(name),
    "expected the name of a header that only the proxy sets, like Remote-User",
  );

/** The settings for a reverse proxy that says in a header who has signed in. Rules between them are in `check-server-config.ts`. */
export const trustedUserSection = z.strictObject({
  name: headerName
    .nullable()
    .describe(
      "The header in which a proxy of `server.trustProxy` names the address of the account that is signed in, like `Remote-Email`; null trusts no such header.",
    ),
  secretHeader: headerName
    .nullable()
    .describe(
      "The header in which the proxy sends the secret; it may be null only if `dashboard.listen` is set.",
    ),
  secret: z
    .string()
    .min(16, "expected at least 16 characters")
    .max(256)
    .regex(/^[\x21-\x7e]+$/, "expected visible ASCII characters")
    .nullable()
    .describe("The secret that the proxy sends in `secretHeader`; only the proxy may know it."),
});

/** The settings without such a proxy. */
export const defaultTrustedUser: z.infer<typeof trustedUserSection> = {
  name: null,
  secretHeader: null,
  secret: null,
};
