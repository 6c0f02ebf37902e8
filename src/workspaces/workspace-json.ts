import { z } from "zod";
import { NO_BRAND } from "../foundation/brand.ts";
import { toIsoTime } from "../foundation/clock.ts";
import type { Account, PlanLimits, Usage, Workspace } from "./workspace.ts";

/** Accounts, workspaces, plans and usage as every JSON output shows them. */

export const accountShape = z.strictObject({
  id: z.string(),
  email: z.string(),
  is_operator: z
    .boolean()
    .describe("Whether the account is an operator, who sees every workspace and the System pages."),
  is_doubtful: z
    .boolean()
    .describe(
      "Whether nobody has shown yet that the account belongs to the holder of its address, because it was made by a link that was handed over. Until then nobody can sign in to it through a proxy or an OpenID issuer.",
    ),
  created_at: z.string(),
});

export function accountJson(account: Account): z.output<typeof accountShape> {
  return {
    id: account.id,
    email: account.email,
    is_operator: account.isOperator,
    is_doubtful: account.isDoubtful,
    created_at: toIsoTime(account.createdAt),
  };
}

const brandText = (what: string) => z.string().nullable().describe(what);

/** The settings of a workspace, as its JSON and forms files contain them. */
export const workspaceSettingsShape = z.strictObject({
  time_zone: z
    .string()
    .nullable()
    .describe("The time zone of the times in its e-mails, like Europe/Berlin; null is UTC."),
  brand_colour: brandText(
    "The colour of the pages and e-mails that visitors and recipients see, like #0b6e5f; null is the built-in colour.",
  ),
  brand_name: brandText("The name above these pages and e-mails; null is none."),
  brand_footer: brandText("The text below these pages and e-mails; null is none."),
});

export function workspaceSettingsJson({
  timeZone,
  brand,
}: Pick<Workspace, "timeZone" | "brand">): z.output<typeof workspaceSettingsShape> {
  return {
    time_zone: timeZone,
    brand_colour: brand.colour,
    brand_name: brand.name,
    brand_footer: brand.footer,
  };
}

export const WORKSPACE_SETTINGS = Object.keys(
  workspaceSettingsShape.shape,
) as (keyof typeof workspaceSettingsShape.shape)[];

/** A setting that is missing stays as it is. Null and an empty text mean the setting of a new workspace. */
export const workspaceSettingsInput = workspaceSettingsShape.partial();

export const NO_WORKSPACE_SETTINGS = workspaceSettingsJson({ timeZone: null, brand: NO_BRAND });

/** The settings with the given ones replaced. */
export function settingsWith(
  known: z.output<typeof workspaceSettingsShape>,
  given: z.output<typeof workspaceSettingsInput>,
): z.output<typeof workspaceSettingsShape> {
  return {
    time_zone: given.time_zone === undefined ? known.time_zone : given.time_zone,
    brand_colour: given.brand_colour === undefined ? known.brand_colour : given.brand_colour,
    brand_name: given.brand_name === undefined ? known.brand_name : given.brand_name,
    brand_footer: given.brand_footer === undefined ? known.brand_footer : given.brand_footer,
  };
}

/** The settings in their stored form, not checked yet. */
export function workspaceSettingsOf(
  given: z.output<typeof workspaceSettingsShape>,
): Pick<Workspace, "timeZone" | "brand"> {
  const { time_zone: timeZone, brand_colour: colour, brand_name: name, brand_footer: footer } = given;
  return { timeZone, brand: { colour, name, footer } };
}

export const workspaceShape = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  name: z.string(),
  plan: z.string(),
  ...workspaceSettingsShape.shape,
  created_at: z.string(),
});

export function workspaceJson(workspace: Workspace): z.output<typeof workspaceShape> {
  return {
    id: workspace.id,
    account_id: workspace.accountId,
    name: workspace.name,
    plan: workspace.plan,
    ...workspaceSettingsJson(workspace),
    created_at: toIsoTime(workspace.createdAt),
  };
}

export const limitsShape = z.strictObject({
  monthly_submissions: z
    .number()
    .nullable()
    .describe("Submissions that are accepted in a month; null is unlimited, as for the other limits."),
  endpoints: z.number().nullable(),
  custom_spam: z.boolean(),
  held_bytes: z.number().nullable(),
  file_bytes: z.number().nullable(),
});

export function limitsJson({
  monthlySubmissions,
  endpoints,
  customSpam,
  heldBytes = null,
  fileBytes = null,
}: PlanLimits): z.output<typeof limitsShape> {
  return {
    monthly_submissions: monthlySubmissions,
    endpoints,
    custom_spam: customSpam,
    held_bytes: heldBytes,
    file_bytes: fileBytes,
  };
}

export const usageShape = z.strictObject({
  workspace_id: z.string(),
  plan: z.string(),
  month: z.string(),
  used: z.number(),
  limit: z.number().nullable(),
  remaining: z.number().nullable(),
});

export function usageJson({
  workspaceId,
  plan,
  month,
  used,
  limit,
  remaining,
}: Usage): z.output<typeof usageShape> {
  return { workspace_id: workspaceId, plan, month, used, limit, remaining };
}
