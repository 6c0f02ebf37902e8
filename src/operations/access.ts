/**
 * What an account may be in a workspace, from the least rights to the most. An operator is one in every workspace. Each role includes the
 * rights of the roles before it.
 */
export const ROLES = ["reader", "editor", "owner", "operator"] as const;
export type Role = (typeof ROLES)[number];

/** The rights that the maker of a token chooses for it. */
export const SCOPES = [
  "submissions:read",
  "submissions:write",
  "submissions:export",
  "endpoints:read",
  "endpoints:write",
  "recipients:read",
  "recipients:write",
  "members:read",
  "members:write",
  "workspace:read",
  "workspace:write",
  "operator",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Who may do an operation. */
interface AccessRule {
  /** The role that an account needs in the workspace. For what belongs to no workspace: `operator`, or null for any account. */
  readonly role: Role | null;
  /** The scopes that a token needs, all of them; null if no token may. */
  readonly scopes: readonly Scope[] | null;
  /** Whether a visitor without an account may do it by the link of a letter. The operation then checks the link's token. */
  readonly byLink?: boolean;
  /** What the access is about, for the documentation. */
  readonly about: string;
}

/** The table of access: each operation names one of these. `docs/guarantees.md` shows it. */
export const ACCESS = {
  "endpoints:read": {
    role: "reader",
    scopes: ["endpoints:read"],
    about: "Look at forms, their fields and settings",
  },
  "keys:read": {
    role: "editor",
    scopes: ["endpoints:read"],
    about: "Look at keys, without their texts",
  },
  "endpoints:create": {
    role: "editor",
    scopes: ["endpoints:write", "submissions:read"],
    about: "Make forms; for an owner with a secret key, which reads what is sent to it",
  },
  "endpoints:write": {
    role: "editor",
    scopes: ["endpoints:write"],
    about: "Change forms, and issue publishable keys",
  },
  "keys:secret": {
    role: "owner",
    scopes: ["endpoints:write", "submissions:read"],
    about: "Issue, rotate and revoke secret keys, which read and delete what was sent",
  },
  "endpoints:delete": {
    role: "owner",
    scopes: ["endpoints:write"],
    about: "Delete a form with all that was sent to it",
  },
  "recipients:read": {
    role: "editor",
    scopes: ["recipients:read"],
    about: "Look at webhooks, recipients of e-mail, automatic replies, and what was sent to them",
  },
  "recipients:write": {
    role: "editor",
    scopes: ["recipients:write"],
    about: "Change, pause, test and delete them, and send messages again",
  },
  "recipients:direct": {
    role: "editor",
    scopes: ["recipients:write", "submissions:read"],
    about:
      "Say where submissions go: make a webhook, a recipient or an automatic reply, and change its address",
  },
  "submissions:read": {
    role: "reader",
    scopes: ["submissions:read"],
    about: "Look at submissions and held posts",
  },
  "spam:details": {
    role: "reader",
    scopes: ["submissions:read"],
    about: "See why a post scored, unless that is switched off for a reader",
  },
  "submissions:mark-read": {
    role: "reader",
    scopes: ["submissions:write"],
    about: "Note what one has read oneself",
  },
  "submissions:write": {
    role: "editor",
    scopes: ["submissions:write"],
    about: "Mark, assign, close, note, delete and bring back submissions",
  },
  "submissions:purge": {
    role: "owner",
    scopes: ["submissions:write"],
    about: "Delete submissions for good that people deleted, and empty the bin",
  },
  "held:write": {
    role: "editor",
    scopes: ["submissions:write"],
    about: "Release and drop held posts",
  },
  "submissions:import": {
    role: "editor",
    scopes: ["submissions:write"],
    about: "Add submissions of an export, with their ids and times",
  },
  "spam:preview": {
    role: "editor",
    scopes: ["endpoints:read", "submissions:read"],
    about: "Try spam settings on what was sent",
  },
  "workspace:spam": {
    role: "editor",
    scopes: ["workspace:write"],
    about: "Change the spam settings of a whole workspace",
  },
  "submissions:export": {
    role: "reader",
    scopes: ["submissions:export"],
    about: "Take out everything that was sent at once, unless that is switched off for a reader",
  },
  "letters:follow": {
    role: null,
    scopes: null,
    byLink: true,
    about: "Agree to e-mail and end it, by the link of a letter",
  },
  "endpoints:move": {
    role: "owner",
    scopes: ["endpoints:write", "workspace:write"],
    about: "Move a form into another workspace, as the owner of both",
  },
  "workspace:read": {
    role: "reader",
    scopes: ["workspace:read"],
    about: "Look at workspaces and their plans",
  },
  "workspace:usage": {
    role: "owner",
    scopes: ["workspace:read"],
    about: "Look at what counted towards a plan",
  },
  "members:read": {
    role: "editor",
    scopes: ["members:read"],
    about: "Look at who is a member",
  },
  "members:write": {
    role: "owner",
    scopes: ["members:write"],
    about: "Invite members, change what they may do, and remove them",
  },
  "members:leave": {
    role: "reader",
    scopes: null,
    about: "Leave a workspace",
  },
  "workspace:write": {
    role: "owner",
    scopes: ["workspace:write"],
    about: "Rename workspaces",
  },
  "workspace:export": {
    role: "owner",
    scopes: ["endpoints:read", "recipients:read", "submissions:export", "submissions:read", "workspace:read"],
    about: "Take a whole workspace out at once: its settings, submissions, held posts and files",
  },
  "workspace:transfer": {
    role: "owner",
    scopes: ["members:write", "workspace:write"],
    about: "Hand a workspace over to another account",
  },
  "workspace:delete": {
    role: "owner",
    scopes: ["endpoints:write", "workspace:write"],
    about: "Delete a workspace with all its forms and what was sent to them",
  },
  operator: {
    role: "operator",
    scopes: ["operator"],
    about: "Look after the installation: accounts, workspaces and their plans",
  },
  "accounts:sign-in": {
    role: "operator",
    scopes: null,
    about:
      "Help somebody sign in: a link that sets the password, and the removal of a second factor, passkeys too",
  },
  tokens: {
    role: "owner",
    scopes: null,
    about: "Make tokens, and list and revoke them",
  },
  events: {
    role: "reader",
    scopes: [],
    about: "Hear what was stored or changed, as far as one may read it",
  },
  "own-token": {
    role: null,
    scopes: [],
    about: "See and revoke the token with which one asks",
  },
  mcp: {
    role: null,
    scopes: [],
    about: "Call a tool as an agent, which is noted; what the tool does needs its own access",
  },
  "own-account": {
    role: null,
    scopes: null,
    about: "Change how one signs in oneself",
  },
} as const satisfies Record<string, AccessRule>;

/** The name of a row of the table. */
export type Access = keyof typeof ACCESS;

/** Whether a role has all the rights of another one. */
export function includesRole(has: Role, needs: Role): boolean {
  return ROLES.indexOf(has) >= ROLES.indexOf(needs);
}

/** Whether a token's scopes include one. `X:write` includes `X:read`; the scopes for exports and for operators are included by no other. */
export function includesScope(has: readonly Scope[], needs: Scope): boolean {
  return (
    has.includes(needs) || (needs.endsWith(":read") && has.includes(needs.replace(/read$/, "write") as Scope))
  );
}

export function ruleOf(access: Access): AccessRule {
  return ACCESS[access];
}
