import type { Scope } from "../../operations/access.ts";

/** What a scope lets a token do, in words for people who choose it. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  "submissions:read": "Read what was sent",
  "submissions:write": "Read, mark, delete and release what was sent",
  "submissions:export": "Export what was sent",
  "endpoints:read": "Look at forms, their fields, settings and keys",
  "endpoints:write": "Make and change forms",
  "recipients:read": "Look at webhooks and e-mail recipients",
  "recipients:write": "Change webhooks and e-mail recipients",
  "members:read": "See who works in a workspace",
  "members:write": "Change who works in a workspace",
  "workspace:read": "Look at workspaces, plans and usage",
  "workspace:write": "Change workspaces",
  operator: "Look after the installation",
};
