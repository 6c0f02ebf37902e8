import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test.each([
  [{ servers: {} }, 'servers: there is no such setting; did you mean "server"?'],
  [{ server: { prot: 1 } }, 'server.prot: there is no such setting; did you mean "port"?'],
  [{ plans: { hobby: { monthlySubmission: 1 } } }, 'did you mean "monthlySubmissions"?'],
  [{ plans: { gold: { endpoint: 1 } } }, "plans.gold.endpoint: there is no such setting"],
  [{ webhooks: { limits: { colour: 1 } } }, "webhooks.limits.colour: there is no such setting"],
])("an unknown setting is refused with the name that was meant, if one is near: %j", (content, message) => {
  const file = join(temporaryFolder(), "formsvc.config.json");
  writeFileSync(file, JSON.stringify(content));
  expect(() => loadConfig(file, {})).toThrow(message);
});
