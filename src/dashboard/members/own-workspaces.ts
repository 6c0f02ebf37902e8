import { html, type Html } from "../../foundation/html.ts";
import type { OwnMembership } from "../../workspaces/member-store.ts";
import { settingsPart } from "../kit/settings-groups.ts";
import { ROLE_NAMES } from "./member-words.ts";

/** The workspaces that the account is a member of, for its own page. */
export function ownWorkspacesPart(own: readonly OwnMembership[]): Html | null {
  if (own.length === 0) return null;
  return settingsPart(
    {
      title: "Workspaces",
      about: "What you are a member of. Whoever owns one decides what you may do there.",
    },
    html`<div class="card">
      <div class="scroll folds" tabindex="0" role="region" aria-label="Your workspaces">
        <table>
          <thead>
            <tr><th scope="col">Workspace</th><th scope="col">You are</th><th scope="col" class="right"><span class="hidden-text">Leave</span></th></tr>
          </thead>
          <tbody>
            ${own.map(rowView)}
          </tbody>
        </table>
      </div>
    </div>`,
  );
}

function rowView({ workspaceId, name, role }: OwnMembership): Html {
  return html`<tr>
    <th scope="row"><bdi>${name}</bdi></th>
    <td data-label="You are">${ROLE_NAMES[role].toLowerCase()}</td>
    <td class="right">
      <form method="post" action="/dashboard/workspaces/${workspaceId}/leave">
        <button>Leave<span class="hidden-text"> ${name}</span></button>
      </form>
    </td>
  </tr>`;
}
