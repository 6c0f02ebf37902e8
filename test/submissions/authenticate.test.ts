import { expect, test } from "vitest";
import { createEndpointDirectory, type EndpointDirectory } from "../../src/endpoints/endpoint-directory.ts";
import type { FormsvcError } from "../../src/foundation/errors.ts";
import { compileNetworks } from "../../src/foundation/ip-address.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { makeKey } from "../../src/keys/key-format.ts";
import { createKeyVerifier } from "../../src/keys/verify-key.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { createGatekeeper } from "../../src/submissions/receive/authenticate.ts";
import { createRateLimiter } from "../../src/foundation/rate-limit.ts";
import { createFakeClock, NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { makeEndpoint } from "../support/terminal.ts";

const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
const off = { max: null, windowSeconds: 60 };

test("many first posts with one genuine key cost two hashes at most, however few bad keys the address may send", async () => {
  const db = temporaryDatabase();
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const { secret } = await makeEndpoint(db, made, { workspace: null, plans, now: NOON });
  const real = createKeyVerifier(db, createFakeClock());
  const directory: EndpointDirectory = createEndpointDirectory(db, {
    plans,
    defaults: defaultSpamSettings(5),
  });
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
  const gatekeeper = createGatekeeper({
    verifier: counted,
    directory,
    findNamed: () => Promise.resolve(null),
    limiter: createRateLimiter(),
    limits,
    exempt: compileNetworks([]),
  });
  const callers = await Promise.all(
    Array.from({ length: 100 }, () => gatekeeper.authenticate(`Bearer ${secret.text}`, "192.0.2.1")),
  );
  expect(new Set(callers.map(({ key }) => key.id)).size).toBe(1);
  expect(proofs).toBe(2);
});

test("a key that finds no place counts towards its address's limit of bad keys", async () => {
  const db = temporaryDatabase();
  const verifier = createKeyVerifier(db, createFakeClock());
  const limits = { publishable: off, secret: off, badKey: { max: 2, windowSeconds: 60 } };
  const directory = createEndpointDirectory(db, { plans, defaults: defaultSpamSettings(5) });
  const gatekeeper = createGatekeeper({
    verifier,
    directory,
    findNamed: () => Promise.resolve(null),
    limiter: createRateLimiter(),
    limits,
    exempt: compileNetworks([]),
  });
  const send = async (address: string): Promise<string> => {
    const answer = gatekeeper.authenticate(`Bearer ${makeKey("secret").text}`, address);
    return answer.then(
      () => "good",
      (error: FormsvcError) => error.code,
    );
  };
  const others = Array.from({ length: 65 }, (_, index) => send(`192.0.2.${index}`));
  const mine: string[] = [];
  for (let tries = 0; tries < 3; tries += 1) mine.push(await send("198.51.100.1"));
  expect(mine).toEqual(["unavailable", "unavailable", "rate_limited"]);
  expect(new Set(await Promise.all(others))).toEqual(new Set(["unauthorized"]));
});
