import { expect, test } from "vitest";
import type { EndpointDirectory } from "../../src/endpoints/endpoint-directory.ts";
import { createEndpointDirectory } from "../../src/endpoints/endpoint-directory.ts";
import { compileNetworks } from "../../src/foundation/ip-address.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { createKeyVerifier } from "../../src/keys/verify-key.ts";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import { createGatekeeper } from "../../src/submissions/authenticate.ts";
import { createRateLimiter } from "../../src/submissions/rate-limit.ts";
import { createFakeClock, NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
const off = { max: null, windowSeconds: 60 };

test("many first posts with one genuine key cost two hashes at most, however few bad keys the address may send", async () => {
  const db = temporaryDatabase();
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const { secret } = await createEndpoint(db, null, made, plans, NOON);
  const real = createKeyVerifier(db, createFakeClock());
  const directory: EndpointDirectory = createEndpointDirectory(db, plans);
  // Counts each proof that is asked for while none is remembered; those that overlap share their hash.
  let proofs = 0;
  const counted = {
    ...real,
    verify: (parsed: Parameters<typeof real.verify>[0]) => {
      proofs += 1;
      return real.verify(parsed);
    },
  };
  const limits = { publishable: off, secret: off, badKey: { max: 2, windowSeconds: 60 } };
  const gatekeeper = createGatekeeper(counted, directory, createRateLimiter(), limits, compileNetworks([]));
  const callers = await Promise.all(
    Array.from({ length: 100 }, () => gatekeeper.authenticate(`Bearer ${secret.text}`, "192.0.2.1")),
  );
  expect(new Set(callers.map(({ key }) => key.id)).size).toBe(1);
  expect(proofs).toBe(2);
});
