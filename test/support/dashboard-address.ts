import type { TestServer } from "./test-server.ts";

/** Reads from the log the origin of the dashboard's own address (`dashboard.listen`). */
export function dashboardUrl({ log }: TestServer): string {
  const line = log.find((each) => each.includes('"dashboard.listening"')) ?? "{}";
  return new URL((JSON.parse(line) as { url: string }).url).origin;
}
