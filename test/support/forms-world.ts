import { ENDPOINT_CONTENTS, spamDefaults } from "../../src/app/features.ts";
import { checkFile } from "../../src/apply/check-file.ts";
import { exportFile } from "../../src/apply/export-file.ts";
import { planFile, type Pruning } from "../../src/apply/plan-file.ts";
import type { PerformAnywhere } from "../../src/apply/read-current.ts";
import { runPlan } from "../../src/apply/run-plan.ts";
import type { MadeSecret, Plan } from "../../src/apply/change.ts";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { performOn } from "./terminal.ts";

const unlimited = {
  ...defaultConfig.plans["hobby"],
  monthlySubmissions: null,
  endpoints: null,
  customSpam: true,
};
const plans = {
  ...defaultConfig.plans,
  hobby: unlimited,
  pro: unlimited,
} as typeof defaultConfig.plans;

const parts = {
  keyring: createKeyring(defaultConfig.secrets),
  spamDefaults: spamDefaults(defaultConfig),
  endpointContents: ENDPOINT_CONTENTS,
  storedLetters: null,
  searches: null,
};

/** Performs operations as the command line does, with plans that allow everything. */
export function performerOn(db: Database): PerformAnywhere {
  return (operation, input) => performOn(db, operation, input, { parts: parts, plans });
}

export const KEEPS_ALL: Pruning = { prunes: false, withPosts: [] };
export const PRUNES: Pruning = { prunes: true, withPosts: [] };

/** Plans the changes for a file with this content. */
export function planOf(
  perform: PerformAnywhere,
  value: unknown,
  pruning: Pruning = KEEPS_ALL,
): Promise<Plan> {
  const file = checkFile({ value: structuredClone(value), lineOf: () => 1 }, "forms.yaml", VARIABLES);
  return planFile(perform, file, pruning);
}

const VARIABLES = { SLACK_URL: "https://192.0.2.7/T0/B0/secret-of-slack", CRM_TOKEN: "Bearer of-crm" };

/** Applies a file with this content, and returns the secrets that were made. */
export async function applyTo(
  perform: PerformAnywhere,
  value: unknown,
  pruning: Pruning = KEEPS_ALL,
): Promise<readonly MadeSecret[]> {
  const made: MadeSecret[] = [];
  const plan = await planOf(perform, value, pruning);
  await runPlan(plan, { perform, onDone: (_change, { secrets }) => made.push(...secrets) });
  return made;
}

/** Exports everything that exists, as the content of a file. */
export async function exported(perform: PerformAnywhere) {
  return (await exportFile(perform)).file;
}

/** Writes each change of a plan in one line. */
export function linesOf({ changes }: Plan): string[] {
  return changes.map(({ verb, kind, name, differences }) =>
    [verb, kind, name, ...differences.map(({ member }) => member)].join(" "),
  );
}

const email = { type: "string", required: true, format: "email" };

/** The content of a file with three forms in two workspaces, which uses every feature. */
export const EVERYTHING = {
  version: 1,
  workspaces: [
    {
      name: "Client A",
      time_zone: "Europe/Berlin",
      brand_colour: "#7a3b12",
      brand_name: "Mia's Bakery",
      brand_footer: "Mia Berg\nHauptstr. 1",
      plan: "pro",
      spam: { maxLinks: 3, keywords: [{ word: "casino", effect: 20 }] },
      endpoints: [
        {
          name: "Contact",
          schema: { email, message: { type: "string", maxLength: 5000 } },
          allowed_origins: ["https://example.com", "https://*.example.org"],
          unknown_fields: "keep",
          honeypots: ["website"],
          success_url: "https://example.com/thanks",
          keep_days: 90,
          store_address: "short",
          language: "de",
          spam: { technical: true },
          recipients: [
            {
              address: "office@example.com",
              language: "de",
              digest: "daily",
              attach: true,
              max_spam_score: 40,
              subject: "{form}: {email}",
            },
            { address: "paused@example.com", enabled: false },
          ],
          webhooks: [
            {
              url: "http://127.0.0.1:9/crm",
              allow_private: true,
              headers: { Authorization: { env: "CRM_TOKEN" }, "X-Team": "sales" },
            },
            { url: { env: "SLACK_URL" }, format: "slack", max_spam_score: 10, enabled: false },
          ],
          autoreply: { field: "email", text: "Thank you.\nWe answer soon.", reply_to: "office@example.com" },
        },
        { name: "Paused", schema: { email }, state: "paused" },
      ],
    },
    { name: "Client B", endpoints: [{ name: "Contact", schema: { name: { type: "string" }, email } }] },
  ],
};
