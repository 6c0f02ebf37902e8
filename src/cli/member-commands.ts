import type { Command } from "commander";
import { dashboardUrlOf } from "../app/transports.ts";
import { listAllEndpoints } from "../endpoints/endpoint-operations.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { plainText } from "../foundation/plain-text.ts";
import { inviteMember } from "../members/invitation-operations.ts";
import { listWorkspaceMembers, removeWorkspaceMember, setMember } from "../members/member-operations.ts";
import type { MemberJson } from "../members/member-json.ts";
import { MEMBER_ROLES } from "../workspaces/member-store.ts";
import { confirm } from "./arguments.ts";
import { addNoun, command, refuse } from "./command.ts";
import { operate } from "./operate.ts";
import type { OptionValues } from "./option-values.ts";
import type { PerformCommand } from "./terminal.ts";

export function register(program: Command): void {
  addNoun(program, "member", "Who sees a workspace, and what they may do in it", [invite, list, set, remove]);
}

const ofWorkspace = { flags: "--workspace <workspace>", summary: "id or name", required: true } as const;
const membershipOptions = [
  {
    flags: "--endpoint <endpoint>",
    summary: "sees only this endpoint; repeat it for several",
    repeatable: true,
  },
  { flags: "--no-export", summary: "a reader who may not export" },
  { flags: "--no-spam-details", summary: "a reader who is not shown why posts scored" },
] as const;

const invite = command({
  usage: "invite <email>",
  summary:
    "Invite somebody to a workspace, by a letter or a link to hand over: for 7 days, once, and for that address only",
  notes:
    "With mail.host and server.baseUrl, a letter goes out. The link that is printed does the same, and is shown this once.",
  options: [
    ofWorkspace,
    { flags: "--role <role>", summary: "what they may do", choices: MEMBER_ROLES, required: true },
    ...membershipOptions,
  ],
  examples: [
    "formsvc member invite bo@example.com --workspace 'Client sites' --role editor",
    "formsvc member invite kim@example.com --workspace 'Client sites' --role reader --endpoint Contact --no-export",
  ],
  action: (context, options, [email]) => {
    const { workspace, role } = options;
    const input = { workspace, email, role, ...readMembership(options) };
    return operate(context, async ({ perform }) => {
      const { output } = context;
      const made = await perform(inviteMember, input, ({ config }) => ({
        storedLetters: null,
        dashboardUrl: dashboardUrlOf(config),
      }));
      const { invitation, url } = made;
      output.mustBeTaken("the invitation was made, and nobody has its link; invite again");
      if (output.isJson) return output.json(made);
      output.line(url ?? invitation.email);
      const way =
        url === null
          ? "a letter has the link"
          : "hand the link over (where e-mail is set up, a letter brings one too)";
      return output.note(
        `${invitation.email} is invited as ${role}: ${way}; good once, until ${invitation.expires_at}`,
      );
    });
  },
});

const list = command({
  usage: "list",
  summary: "List who sees a workspace, and as what, and who is invited",
  options: [ofWorkspace],
  examples: ["formsvc member list --workspace 'Client sites'"],
  action: (context, { workspace }) =>
    operate(context, async ({ perform }) => {
      const listed = await perform(listWorkspaceMembers, { workspace });
      if (context.output.isJson) return context.output.json(listed);
      const names = await readNames(perform, workspace, listed.data);
      const rows = listed.data.map((member) => [
        member.email,
        member.role,
        member.state,
        seenOf(member, names),
        member.since,
        member.by ?? "",
      ]);
      return context.output.table(["EMAIL", "ROLE", "STATE", "SEES", "SINCE", "BY"], rows, "no members");
    }),
});

const set = command({
  usage: "set <email>",
  summary: "Change what a member may do; what is not named stays",
  options: [
    ofWorkspace,
    { flags: "--role <role>", summary: "what they may do", choices: MEMBER_ROLES },
    ...membershipOptions,
    { flags: "--all-endpoints", summary: "sees all endpoints again, later ones too" },
    { flags: "--export", summary: "may export again" },
    { flags: "--spam-details", summary: "is shown again why posts scored" },
  ],
  examples: [
    "formsvc member set bo@example.com --workspace 'Client sites' --role editor",
    "formsvc member set kim@example.com --workspace 'Client sites' --endpoint Contact --no-export",
  ],
  action: (context, options, [email]) => {
    const { workspace, role } = options;
    if (options.endpoint !== null && options.allEndpoints)
      return refuse("name endpoints, or say that all are seen");
    const asked = readMembership(options);
    const input = { workspace, email, ...asked, ...(role !== null && { role }) };
    if (options.allEndpoints) Object.assign(input, { endpoints: null });
    if (role === null && Object.keys(asked).length === 0 && !options.allEndpoints)
      return refuse(
        "give something to set: --role, --endpoint, --all-endpoints, --no-export, --no-spam-details",
      );
    return operate(context, async ({ perform }) => {
      const { member } = await perform(setMember, input);
      if (context.output.isJson) return context.output.json({ member });
      context.output.line(member.email);
      const seen = seenOf(member, await readNames(perform, workspace, [member]));
      return context.output.note(`${member.role} of ${workspace} from now on; sees ${seen}`);
    });
  },
});

const remove = command({
  usage: "remove <email>",
  summary: "Take a workspace from a member, who sees nothing of it from then on, or withdraw an invitation",
  options: [ofWorkspace, { flags: "--yes", summary: "do it without being asked" }],
  examples: ["formsvc member remove bo@example.com --workspace 'Client sites'"],
  action: (context, { workspace, yes }, [email]) =>
    operate(context, async ({ perform }) => {
      await confirm(`Take the workspace ${workspace} from ${email}?`, yes);
      const { member } = await perform(removeWorkspaceMember, { workspace, email });
      if (context.output.isJson) return context.output.json({ member });
      return context.output.note(
        member.state === "invited"
          ? `the invitation of ${member.email} is withdrawn`
          : `${member.email} is no member of ${workspace} any more`,
      );
    }),
});

/** The options that were given, as operations take them. */
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

/** Of the endpoints that members are bound to, by id; none if a token may not look at endpoints. */
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
