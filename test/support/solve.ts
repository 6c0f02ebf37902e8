import { createHash } from "node:crypto";

/** Computes a proof of work as a browser does. @param asked the answer of `GET /challenge` */
export function solve({ maxnumber, ...asked }: Record<string, unknown>): string {
  for (let number = 0; number <= Number(maxnumber); number += 1) {
    const hash = createHash("sha256")
      .update(`${String(asked["salt"])}${number}`)
      .digest("hex");
    if (hash === asked["challenge"]) return encode({ ...asked, number });
  }
  throw new Error("the challenge has no solution");
}

export function encode(proof: unknown): string {
  return Buffer.from(JSON.stringify(proof)).toString("base64");
}

export function decode(proof: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(proof, "base64").toString()) as Record<string, unknown>;
}
