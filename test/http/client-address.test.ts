import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  goodPost,
  launchServer,
  startServer,
  type TestEndpoint,
  type TestServer,
} from "../support/test-server.ts";

/** The test itself connects from 127.0.0.1. */
const PROXIES = ["127.0.0.1", "10.0.0.0/8", "2001:db8:aa::/48"];

async function storedSubmitter(
  server: TestServer,
  key: string,
  headers: Record<string, string>,
): Promise<{ ip_address: string; user_agent: string }> {
  const { json } = await server.post(key, goodPost, headers);
  return server.owner
    .prepare("SELECT ip_address, user_agent FROM submission WHERE id = ?")
    .get(json["submission_id"]) as { ip_address: string; user_agent: string };
}

describe("behind trusted proxies", () => {
  let server: TestServer;
  let endpoint: TestEndpoint;
  beforeAll(async () => {
    server = await launchServer({ server: { trustProxy: PROXIES } });
    endpoint = await server.addEndpoint();
  });
  afterAll(() => server.stop());

  test.each([
    ["198.51.100.7", "198.51.100.7", "the one address is the client"],
    ["198.51.100.7, 10.1.2.3", "198.51.100.7", "trusted proxies on the right are passed over"],
    ["198.51.100.7,10.1.2.3 , 2001:db8:aa::5", "198.51.100.7", "blanks do not matter"],
    ["203.0.113.1, 198.51.100.7", "198.51.100.7", "what the client wrote on the left is not believed"],
    ["10.9.9.9, 198.51.100.7", "198.51.100.7", "nor is a trusted address that it wrote there"],
    ["10.1.1.1, 10.2.2.2", "10.1.1.1", "if all are trusted, the leftmost is the client"],
    ["198.51.100.7:4711", "198.51.100.7", "a port is left out"],
    ["[2001:db8::7]:4711", "2001:db8::7", "a port after brackets too"],
    ["[2001:db8::7]", "2001:db8::7", "brackets alone too"],
    ["2001:DB8:0:0::7", "2001:db8::7", "an IPv6 address is stored in its one spelling"],
    ["::ffff:198.51.100.7", "198.51.100.7", "a mapped IPv4 address is stored as IPv4"],
    ["::ffff:c633:6407", "198.51.100.7", "in hexadecimal as well"],
    ["198.51.100.7, ::ffff:10.1.2.3", "198.51.100.7", "a mapped proxy is the same proxy"],
    ["", "127.0.0.1", "an empty header says nothing"],
    ["unknown", "127.0.0.1", "an unreadable entry ends the search"],
    ["198.51.100.7, unknown", "127.0.0.1", "an unreadable entry ends the search"],
    ["198.51.100.7, unknown, 10.1.2.3", "10.1.2.3", "the last certain address counts"],
    ["198.51.100.7, , 10.1.2.3", "10.1.2.3", "an empty entry is unreadable"],
    ["1.2.3.4.5", "127.0.0.1", "five parts are no address"],
    ["0x7f.1", "127.0.0.1", "odd spellings are no address"],
    ["010.1.2.3", "127.0.0.1", "nor is an octal one"],
    ["198.51.100.7:99999999", "127.0.0.1", "nor is one with an impossible port"],
    [`${"198.51.100.7,".repeat(400)}10.0.0.1`, "198.51.100.7", "a very long list is read from the right"],
    [`203.0.113.9${",10.0.0.1".repeat(40)}`, "10.0.0.1", "and only so far"],
  ])("X-Forwarded-For %j gives %s: %s", async (header, expected) => {
    const { ip_address } = await storedSubmitter(server, endpoint.publishable, { "x-forwarded-for": header });
    expect(ip_address).toBe(expected);
  });

  test("a repeated header counts as one list", async () => {
    const answer = await server.request({
      method: "POST",
      path: "/submit",
      headers: {
        authorization: `Bearer ${endpoint.publishable}`,
        "content-type": "application/json",
        "x-forwarded-for": ["203.0.113.1", "198.51.100.8", "10.0.0.1"],
      },
      body: JSON.stringify(goodPost),
    });
    const row = server.owner.prepare("SELECT ip_address FROM submission WHERE id = ?").pluck();
    expect(row.get(answer.json["submission_id"])).toBe("198.51.100.8");
  });
});

describe("without trusted proxies", () => {
  let server: TestServer;
  let endpoint: TestEndpoint;
  beforeAll(async () => {
    server = await launchServer();
    endpoint = await server.addEndpoint();
  });
  afterAll(() => server.stop());

  test.each(["x-forwarded-for", "x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip"])(
    "%s is not believed",
    async (name) => {
      const { ip_address } = await storedSubmitter(server, endpoint.publishable, { [name]: "198.51.100.7" });
      expect(ip_address).toBe("127.0.0.1");
    },
  );

  test("a secret key passes the real submitter on", async () => {
    const headers = {
      "x-submitter-ip": " 2001:DB8::9 ",
      "x-submitter-user-agent": "Safari",
      "user-agent": "curl",
    };
    expect(await storedSubmitter(server, endpoint.secret, headers)).toEqual({
      ip_address: "2001:db8::9",
      user_agent: "Safari",
    });
  });

  test("a publishable key cannot: both headers are ignored, wrong ones too", async () => {
    for (const address of ["198.51.100.7", "nonsense"]) {
      const headers = { "x-submitter-ip": address, "x-submitter-user-agent": "Safari", "user-agent": "curl" };
      expect(await storedSubmitter(server, endpoint.publishable, headers)).toEqual({
        ip_address: "127.0.0.1",
        user_agent: "curl",
      });
    }
  });

  test("a backend that passes nothing on is itself the submitter", async () => {
    expect(
      await storedSubmitter(server, endpoint.secret, { "user-agent": "curl", "x-submitter-ip": "" }),
    ).toEqual({
      ip_address: "127.0.0.1",
      user_agent: "curl",
    });
  });

  test("a missing user agent is stored as empty and a long one is cut at 512 characters", async () => {
    expect((await storedSubmitter(server, endpoint.secret, {})).user_agent).toBe("");
    const long = await storedSubmitter(server, endpoint.secret, { "user-agent": "x".repeat(2000) });
    expect(long.user_agent).toBe("x".repeat(512));
  });
});

test("limits count a client by its forwarded address and an IPv6 client by its /64", async () => {
  const server = await startServer({
    server: { trustProxy: ["127.0.0.1"] },
    rateLimit: { publishable: { max: 1, windowSeconds: 3600 } },
  });
  const { publishable } = await server.addEndpoint();
  const statusFrom = async (address: string) =>
    (await server.post(publishable, goodPost, { "x-forwarded-for": address })).status;
  expect(await statusFrom("198.51.100.7")).toBe(200);
  expect(await statusFrom("198.51.100.7")).toBe(429);
  expect(await statusFrom("203.0.113.5, 198.51.100.7")).toBe(429);
  expect(await statusFrom("::ffff:198.51.100.7")).toBe(429);
  expect(await statusFrom("198.51.100.8")).toBe(200);
  expect(await statusFrom("2001:db8:1:2::1")).toBe(200);
  expect(await statusFrom("2001:db8:1:2:ffff::9")).toBe(429);
  expect(await statusFrom("2001:db8:1:3::1")).toBe(200);
});
