import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createVendors } from "../../src/submissions/receive/ask-vendor.ts";
import { until } from "../support/until.ts";

/** A service that keeps every question, and answers it when it is told to. */
async function silentService() {
  const open: ServerResponse[] = [];
  const http = createServer((request, response) => {
    request.resume();
    open.push(response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  const answer = (): void => {
    for (const response of open.splice(0)) response.end('{"success":true}');
  };
  return { open, answer, ask: createVendors({ turnstileUrl: url, hcaptchaUrl: url, timeoutMs: 20_000 }) };
}

test("64 questions are under way at once, eight of them for one address; others go without a verdict or are refused", async () => {
  const { open, answer, ask } = await silentService();
  const question = { vendor: "turnstile", secret: "s", siteKey: null, token: "good" } as const;
  const of = (address: string) => ask({ ...question, address });
  const asked = Array.from({ length: 64 }, (_, index) => of(`192.0.2.${Math.floor(index / 8)}`));
  await until(() => open.length === 64);
  // The ninth of an address, before all places are looked at: nobody goes round the service by filling them.
  await expect(of("192.0.2.3")).rejects.toMatchObject({ code: "rate_limited" });
  expect(await of("198.51.100.1")).toEqual({ fault: "64 posts wait for the service" });
  expect(open).toHaveLength(64);
  answer();
  expect(await Promise.all(asked)).toEqual(asked.map(() => ({ isGood: true })));
  const later = [of("192.0.2.3"), of("198.51.100.1")];
  await until(() => open.length === 2);
  answer();
  expect(await Promise.all(later)).toEqual([{ isGood: true }, { isGood: true }]);
});
