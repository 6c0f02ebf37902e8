import { html, type Html } from "../../foundation/html.ts";
import type { Access } from "../../operations/access.ts";
import type { Viewer } from "../../sessions/session.ts";
import { SCRIPT_PATH, STYLE_PATH } from "../assets/assets.ts";
import { helpFor } from "../assets/help.ts";
import { icon, type IconName, MARK } from "./icons.ts";
import { keysButton, keysDialog } from "../assets/keys-dialog.ts";

/** The counts next to the sections of the navigation; 0 is not shown. */
export interface Counts {
  /** At most one more than {@link MAX_COUNT}. */
  readonly unread: number;
  readonly held: number;
  readonly invitations: number;
  /** The accesses that the viewer has in none of their workspaces. Their sections are not shown. */
  readonly closed: ReadonlySet<Access>;
}

/** A larger count is shown as "99+". */
export const MAX_COUNT = 99;

interface Section {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** Beginnings of the paths of further pages of the section. */
  readonly others?: readonly string[];
  /** The further pages of the section whose paths begin like those of another. */
  readonly among?: RegExp;
  readonly count?: "unread" | "held" | "invitations";
  /** Whether the section is left out if its count is 0. */
  readonly isRare?: boolean;
  /** The access that the viewer needs in some workspace. */
  readonly access?: Access;
  readonly operatorsOnly?: boolean;
}

/** The first sections of the navigation. On a phone they stand next to its menu. */
const FIRST_SECTIONS: readonly Section[] = [
  { path: "/dashboard", label: "Inbox", icon: "inbox", count: "unread" },
  { path: "/dashboard/held", label: "Held", icon: "held", count: "held" },
  { path: "/dashboard/endpoints", label: "Forms", icon: "form" },
];
const MENU_SECTIONS: readonly Section[] = [
  {
    path: "/dashboard/notifications",
    label: "Notifications",
    access: "recipients:read",
    icon: "bell",
    others: ["/dashboard/recipients", "/dashboard/webhooks", "/dashboard/replies"],
  },
  { path: "/dashboard/spam", label: "Spam", icon: "shield", access: "endpoints:write" },
  {
    path: "/dashboard/members",
    label: "Members",
    icon: "people",
    access: "members:read",
    among: /^\/dashboard\/workspaces\/[^/]+\/members/,
  },
  {
    path: "/dashboard/invitations",
    label: "Invitations",
    icon: "letter",
    count: "invitations",
    isRare: true,
  },
  {
    path: "/dashboard/usage",
    label: "Usage",
    icon: "bars",
    access: "workspace:usage",
    among: /^\/dashboard\/workspaces\/[^/]+(?!\/(?:members|leave)\b)(?:\/|$)/,
  },
  { path: "/dashboard/system", label: "System", icon: "server", operatorsOnly: true },
];

/** The accesses of the sections, which are checked for each page. */
export const SECTION_ACCESS: readonly Access[] = MENU_SECTIONS.flatMap(({ access }) => access ?? []);

export interface AppPage {
  readonly title: string;
  readonly viewer: Viewer;
  readonly counts: Counts;
  /** The path of the request, to mark its section. */
  readonly path: string;
  readonly content: Html;
}

/** A page for a person who is signed in. */
export function appPage({ title, viewer, counts, path, content }: AppPage): Html {
  const links = (sections: readonly Section[]): Html[] =>
    sections
      .filter(({ operatorsOnly = false }) => !operatorsOnly || viewer.isOperator)
      .filter(({ isRare = false, count }) => !isRare || (count !== undefined && counts[count] > 0))
      .filter(({ access }) => access === undefined || !counts.closed.has(access))
      .map((section) => sectionLink(section, counts, path));
  return document(
    title,
    "app",
    html`<a class="skip" href="#main">Skip to the content</a>
<nav class="main" aria-label="Main">
  <a class="brand" href="/dashboard" aria-label="formsvc: to the inbox">${MARK}<span>formsvc</span></a>
  ${links(FIRST_SECTIONS)}
  <details>
    <summary>${icon("menu")}Menu</summary>
    <div class="places">
      ${links(MENU_SECTIONS)}
      <div class="foot"><span class="who">${viewer.email}</span><a href="${helpFor(path, viewer.isOperator)}">Help</a> · <a href="/dashboard/account" ${path.startsWith("/dashboard/account") && html` aria-current="page"`}>Account</a> · <form method="post" action="/dashboard/sign-out"><button>Sign out</button></form>${keysButton}</div>
    </div>
  </details>
</nav>
<main id="main">
${content}
</main>
${keysDialog}`,
  );
}

/** A page without the navigation: for signing in, and for errors before that. */
export function plainPage(title: string, content: Html): Html {
  return document(
    title,
    "plain",
    html`<main id="main"><p class="brand">${MARK} formsvc</p>${content}</main>`,
  );
}

function sectionLink(
  { path, label, icon: drawing, others = [], among, count }: Section,
  counts: Counts,
  visited: string,
): Html {
  const isCurrent =
    path === "/dashboard"
      ? isInbox(visited)
      : [path, ...others].some((each) => visited.startsWith(each)) || among?.test(visited) === true;
  const number = count === undefined ? 0 : counts[count];
  const shown = number > MAX_COUNT ? `${MAX_COUNT}+` : String(number);
  return html`<a href="${path}" ${isCurrent && html` aria-current="page"`}
    >${icon(drawing)}${label}${
      number > 0 &&
      html` <span class="count${count === "unread" && " new"}">${shown}<span class="hidden-text"> ${count}</span></span>`
    }</a
  > `;
}

/** Matches the inbox, its submissions, and what is asked before something is done with them. */
const INBOX_PATHS = /^\/dashboard(?:\/(?:submissions|bulk|empty-bin|choose-export)\b.*)?$/;

function isInbox(path: string): boolean {
  return INBOX_PATHS.test(path);
}

function document(title: string, kind: "app" | "plain", content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · formsvc</title>
        <link
          rel="icon"
          href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'%3E%3Cpath d='M3 2h14v5H8v3h7v4H8v4H3z' fill='%230b6e5f'/%3E%3C/svg%3E"
        />
        <link rel="stylesheet" href="${STYLE_PATH}" />
        <script type="module" src="${SCRIPT_PATH}"></script>
      </head>
      <body class="${kind}">
        ${content}
      </body>
    </html> `;
}
