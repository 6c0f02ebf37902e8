import type { Command } from "commander";
import type { z } from "zod";
import { dashboardUrlOf } from "../../app/transports.ts";
import { listAllEndpoints } from "../../endpoints/endpoint-operations.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { inviteMember } from "../../members/invitation-operations.ts";
import {
  listWorkspaceMembers,
  removeWorkspaceMember,
  setMember,
  showMember,
} from "../../members/member-operations.ts";
import type { MemberJson } from "../../members/member-json.ts";
import { isOnlyOwner, MEMBER_ROLES } from "../../workspaces/member-store.ts";
import { addNoun, refuse } from "../command.ts";
import { operationCommand } from "../operation-command.ts";
import type { OptionValues } from "../flags/option-values.ts";
import type { PerformCommand } from "../output/terminal.ts";

export function register(program: Command): void {
  addNoun(program, "member", "Who sees a workspace, and what they may do in it", [invite, list, set, remove]);
}

const ofWorkspace = {
  flags: "--workspace <workspace>",
  summary: "id or name of the workspace",
  required: true,
} as const;
const membershipOptions = [
  {
    flags: "--endpoint <endpoint>",
    summary: "let them see only this endpoint; repeatable",
    repeatable: true,
  },
  { flags: "--no-export", summary: "do not let them export (readers only)" },
  { flags: "--no-spam-details", summary: "do not show them the reasons for spam scores (readers only)" },
] as const;

const invite = operationCommand({
  usage: "invite <email>",
  notes:
    "If mail.host and server.baseUrl are set, an e-mail invites them. The printed link does the same, and is shown only now.",
  options: [
    ofWorkspace,
    {
      flags: "--role <role>",
      summary: "their role: what they may do",
      choices: MEMBER_ROLES,
      required: true,
    },
    ...membershipOptions,
  ],
  examples: [
    "formsvc member invite bo@example.com --workspace 'Client sites' --role editor",
    "formsvc member invite kim@example.com --workspace 'Client sites' --role reader --endpoint Contact --no-export",
  ],
  operation: inviteMember,
  parts: ({ config }) => ({ storedLetters: null, dashboardUrl: dashboardUrlOf(config) }),
  input: ({ workspace, role, ...membership }, [email]) => ({
    workspace,
    email,
    role,
    ...readMembership(membership),
  }),
  mustBeTaken: () => "the invitation was made, and nobody has its link; invite again",
  print({ output }, { invitation, url }, { role }) {
    output.line(url ?? invitation.email);
    const way =
      url === null
        ? "a letter has the link"
        : "hand the link over (where e-mail is set up, a letter brings one too)";
    output.note(
      `${invitation.email} is invited as ${role}: ${way}; good once, until ${invitation.expires_at}`,
    );
  },
});

const list = operationCommand({
  usage: "list",
  options: [ofWorkspace],
  examples: ["formsvc member list --workspace 'Client sites'"],
  operation: listWorkspaceMembers,
  input: ({ workspace }) => ({ workspace }),
  async print({ output, perform }, { data }, { workspace }) {
    const names = await readNames(perform, workspace, data);
    const rows = data.map((member) => [
      member.email,
      member.role,
      member.state,
      seenOf(member, names),
      member.since,
      member.by ?? "",
    ]);
    output.table(["EMAIL", "ROLE", "STATE", "SEES", "SINCE", "BY"], rows, "no members");
  },
});

const set = operationCommand({
  usage: "set <email>",
  options: [
    ofWorkspace,
    { flags: "--role <role>", summary: "their role: what they may do", choices: MEMBER_ROLES },
    ...membershipOptions,
    { flags: "--all-endpoints", summary: "let them see all endpoints again, later ones too" },
    { flags: "--export", summary: "let them export again" },
    { flags: "--spam-details", summary: "show them the reasons for spam scores again" },
  ],
  examples: [
    "formsvc member set bo@example.com --workspace 'Client sites' --role editor",
    "formsvc member set kim@example.com --workspace 'Client sites' --endpoint Contact --no-export",
  ],
  operation: setMember,
  input(options, [email]) {
    const { workspace, role, endpoint, allEndpoints } = options;
    if (endpoint !== null && allEndpoints) return refuse("give --endpoint or --all-endpoints, not both");
    const change = {
      ...readMembership(options),
      ...(role !== null && { role }),
      ...(allEndpoints && { endpoints: null }),
    };
    if (Object.keys(change).length === 0)
      return refuse(
        "give something to set: --role, --endpoint, --all-endpoints, --no-export, --no-spam-details",
      );
    return { workspace, email, ...change };
  },
  async print({ output, perform }, { member }, { workspace }) {
    output.line(member.email);
    const seen = seenOf(member, await readNames(perform, workspace, [member]));
    output.note(`${member.role} of ${workspace} from now on; sees ${seen}`);
  },
});

const remove = operationCommand({
  usage: "remove <email>",
  options: [ofWorkspace],
  examples: ["formsvc member remove bo@example.com --workspace 'Client sites'"],
  operation: removeWorkspaceMember,
  input: ({ workspace }, [email]) => ({ workspace, email }),
  check: (input, { perform }) => requireOtherOwner(perform, input),
  ask: ({ workspace, email }) => ({ text: `Take the workspace ${workspace} from ${email}?` }),
  print: ({ output }, { member }, { workspace }) =>
    output.note(
      member.state === "invited"
        ? `the invitation of ${member.email} is withdrawn`
        : `${member.email} is no member of ${workspace} any more`,
    ),
});

/** Checks that the workspace has an owner without this member, or without this invitation. @throws not_found, conflict */
async function requireOtherOwner(
  perform: PerformCommand,
  { workspace, email }: z.input<(typeof removeWorkspaceMember)["input"]>,
): Promise<void> {
  const { member } = await perform(showMember, { workspace, email });
  const { data } = await perform(listWorkspaceMembers, { workspace });
  const owners = data.filter(({ state, role }) => state === "member" && role === "owner");
  if (owners.length === 1 && owners[0]?.account_id === member.account_id)
    throw isOnlyOwner(member.email, workspace);
}

/** The given options as the operations take them. */
export function readMembership(options: {
  readonly endpoint: OptionValues<typeof membershipOptions>["endpoint"];
  readonly export: boolean | null;
  readonly spamDetails: boolean | null;
}) {
  return {
    ...(options.endpoint !== null && { endpoints: options.endpoint }),
    ...(options.export !== null && { export: options.export }),
    ...(options.spamDetails !== null && { spam_details: options.spamDetails }),
  };
}

/** The names of the endpoints that members are limited to, by id; empty if the token may not look at endpoints. */
async function readNames(
  perform: PerformCommand,
  workspace: string,
  members: readonly MemberJson[],
): Promise<ReadonlyMap<string, string>> {
  if (members.every(({ endpoints }) => endpoints === null)) return new Map();
  try {
    const { data } = await perform(listAllEndpoints, { workspace });
    return new Map(data.map(({ id, name }) => [id, name]));
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "forbidden") return new Map();
    throw error;
  }
}

function seenOf(member: MemberJson, names: ReadonlyMap<string, string>): string {
  const seen = member.endpoints?.map((id) => plainText(names.get(id) ?? id)).join(", ") ?? "all";
  const without = [...(member.export ? [] : ["export"]), ...(member.spam_details ? [] : ["spam details"])];
  return without.length === 0 ? seen : `${seen}, without ${without.join(" and ")}`;
}
