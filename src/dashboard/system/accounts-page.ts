import { FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import { createAccount } from "../../workspaces/account-operations.ts";
import type { Account } from "../../workspaces/workspace.ts";
import { listAccounts } from "../../workspaces/workspace-store.ts";
import { page, redirect } from "../answer.ts";
import { NO_PROBLEMS, type Problems, problemSummary, textField } from "../kit/field.ts";
import { listCard } from "../kit/list-card.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes } from "../routes.ts";
import { DOUBTFUL_PILL } from "./account-admin-page.ts";
import { operatorRoutes, systemHead } from "./system-page.ts";
import { time } from "../kit/time.ts";
import { sentence } from "../kit/sentence.ts";

const PATH = "/dashboard/system/accounts";
const PAGE_SIZE = 100;

/** `/dashboard/system/accounts`: the accounts with their workspaces and ways to sign in, and a form for a new account. */
export function accountListPages(routes: Routes, parts: DashboardParts): void {
  const { read, write } = operatorRoutes(routes);

  const show = async (after: string | null, typed: string, problems: Problems) => {
    const accounts = (await parts.db.read(() => listAccounts())).filter(
      ({ id }) => after === null || id > after,
    );
    const shown = accounts.slice(0, PAGE_SIZE);
    const next = accounts.length > PAGE_SIZE ? (shown.at(-1)?.id ?? null) : null;
    const list = listCard({
      label: "Accounts",
      columns: ["E-mail address", "Sees", "Added"],
      rows: shown.map(rowView),
      next: next && `${PATH}?after=${next}`,
    });
    const content = html`${systemHead(PATH)}${problemSummary(problems)}${list}${formView(typed, problems)}`;
    return page("Accounts", content, problems.size === 0 ? 200 : 422);
  };

  read("/system/accounts", ({ query }) => show(query.get("after"), "", NO_PROBLEMS));

  write("/system/accounts", async ({ form, perform }) => {
    const email = form.get("email") ?? "";
    try {
      const { account } = await perform(createAccount, { email });
      return redirect(`${PATH}/${account.id}`, "account-made");
    } catch (error) {
      const isTheirs =
        error instanceof FormsvcError && (error.code === "usage" || error.code === "already_exists");
      if (!isTheirs) throw error;
      return show(null, email, new Map([["email", sentence(error.message)]]));
    }
  });
}

function rowView({ id, email, isOperator, isDoubtful, createdAt }: Account): Html {
  return html`<tr>
    <th scope="row"><a class="link" href="${PATH}/${id}"><bdi>${email}</bdi></a>${isDoubtful && html` ${DOUBTFUL_PILL}`}</th>
    <td data-label="Sees">${isOperator ? html`<span class="pill done">everything: operator</span>` : "own workspaces"}</td>
    <td data-label="Added">${time(createdAt)}</td>
  </tr>`;
}

function formView(typed: string, problems: Problems): Html {
  return html`<section class="card">
    <header><h2>Add an account</h2></header>
    <form class="stacked" method="post" action="${PATH}">
      ${textField({
        name: "email",
        label: "E-mail address",
        type: "email",
        value: typed,
        autocomplete: "off",
        isRequired: true,
        hint: "It gets a workspace of its own. Nothing is sent: on its page you make the link for the first sign-in.",
        problems,
      })}
      <div><button class="primary">Add the account</button></div>
    </form>
  </section>`;
}
