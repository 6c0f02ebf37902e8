import type { Resolver } from "node:dns/promises";

/** The answer of DNS about the TXT records of a name. */
export type TxtAnswer =
  | { readonly kind: "records"; readonly records: readonly string[] }
  /** The name exists without such a record. */
  | { readonly kind: "no_record" }
  /** NXDOMAIN: there is no such name. */
  | { readonly kind: "no_name" }
  /** The lookup failed, so it is not known whether there is a record. */
  | { readonly kind: "failed"; readonly why: string };

export type AskTxt = (name: string) => Promise<TxtAnswer>;

/** Creates a lookup that uses this resolver. A name that is asked for twice is looked up once. */
export function createTxtLookup(resolver: Pick<Resolver, "resolveTxt">): AskTxt {
  const asked = new Map<string, Promise<TxtAnswer>>();
  return (name) => {
    const answer = asked.get(name) ?? ask(resolver, name);
    asked.set(name, answer);
    return answer;
  };
}

async function ask(resolver: Pick<Resolver, "resolveTxt">, name: string): Promise<TxtAnswer> {
  try {
    const records = await resolver.resolveTxt(name);
    // A record longer than 255 bytes comes in parts, which are joined without a space (RFC 7208, section 3.3).
    return { kind: "records", records: records.map((parts) => parts.join("")) };
  } catch (error) {
    return classifyError((error as NodeJS.ErrnoException).code ?? "UNKNOWN");
  }
}

function classifyError(code: string): TxtAnswer {
  if (code === "ENOTFOUND") return { kind: "no_name" };
  if (code === "ENODATA") return { kind: "no_record" };
  return { kind: "failed", why: FAILURES[code] ?? `the lookup failed (${code})` };
}

const NO_ANSWER = "the DNS server of this machine did not answer in time";
const FAILURES: Readonly<Partial<Record<string, string>>> = {
  ETIMEOUT: NO_ANSWER,
  // The lookup was cancelled, because the time for all lookups was over.
  ECANCELLED: NO_ANSWER,
  ECONNREFUSED: "no DNS server answers this machine",
  ESERVFAIL: "the DNS servers of the domain fail, or its DNSSEC is wrong (SERVFAIL)",
  EREFUSED: "the DNS server of this machine refuses to answer (REFUSED)",
};
