import { expect, test } from "vitest";
import { checkDashboardAddress } from "../../src/config/config-health.ts";
import { defaultConfig } from "../../src/config/config.ts";

function check(baseUrl: string | null, dashboard: object = {}) {
  const { server } = defaultConfig;
  return checkDashboardAddress({
    ...defaultConfig,
    server: { ...server, baseUrl },
    dashboard: { ...defaultConfig.dashboard, ...dashboard },
  });
}

test("doctor reports a dashboard that is on at an address of plain http that others use, and no other", () => {
  const found = check("http://forms.example.com");
  expect(found).toMatchObject({ name: "dashboard.address", ok: false });
  expect(found.message).toContain("nobody can sign in to the dashboard at http://forms.example.com");
  for (const good of [
    null,
    "https://forms.example.com",
    "http://localhost:8787",
    "http://127.0.0.1:8787",
    "http://[::1]",
  ])
    expect(check(good).ok, String(good)).toBe(true);
  for (const other of [{ enabled: false }, { listen: "127.0.0.1:8789" }])
    expect(check("http://forms.example.com", other).ok).toBe(true);
});
