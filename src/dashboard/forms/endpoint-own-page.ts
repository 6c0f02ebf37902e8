import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { checkPage, NO_PAGE } from "../../endpoints/own-page.ts";
import { setEndpoint } from "../../endpoints/endpoint-operations.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { findPageNamed } from "../../endpoints/page-name.ts";
import { html, type Html } from "../../foundation/html.ts";
import { type Answer, page, redirect } from "../answer.ts";
import {
  areaField,
  checkField,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  textField,
  tryField,
  problemsFrom,
} from "../kit/field.ts";
import { colourField } from "../kit/colour-field.ts";
import { ownAddress } from "../own-address.ts";
import { languageName } from "../kit/language-options.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";

const SECTION = "/page";

/**
 * The address of the form's own page by the form's id. It stays valid when the form is renamed, or when somebody else uses the same name.
 */
export function ownPageAddress({ id }: Endpoint, base: string): string {
  return `${base}/p/${id}`;
}

interface Addresses {
  readonly lasting: string;
  /** The address by the form's name; null while the page is off, or another form has it there. */
  readonly short: string | null;
}

/** `/dashboard/endpoints/:id/page`: the form's own page, which owners can link to. */
export function endpointOwnPages(routes: Routes, parts: DashboardParts): void {
  function* read({
    viewer,
    params,
    request,
  }: Visit): Steps<{ readonly endpoint: Endpoint; readonly addresses: Addresses }> {
    const endpoint = yield* getViewableEndpoint(viewer, params["id"] ?? "");
    const base = ownAddress(request, parts.config);
    const isFound = (yield* findPageNamed(endpoint.name)) === endpoint.id;
    const short = isFound ? `${base}/p/${encodeURIComponent(endpoint.name)}` : null;
    return { endpoint, addresses: { lasting: ownPageAddress(endpoint, base), short } };
  }

  routes.read("/endpoints/:id/page", async (visit) => {
    const { endpoint, addresses } = await parts.db.read(() => read(visit));
    const content = view(endpoint, addresses, typedOf(endpoint), NO_PROBLEMS);
    return page(`${endpoint.name}: own page`, endpointFrame(endpoint, SECTION, content));
  });

  routes.write("/endpoints/:id/page", async (visit) => {
    const { endpoint, addresses } = await parts.db.read(() => read(visit));
    const typed = readTyped(visit.form);
    const problems = problemsOf(typed, endpoint);
    if (problems.size > 0) return refused(endpoint, addresses, typed, problems);
    try {
      await visit.perform(setEndpoint, { endpoint: endpoint.id, ...inputOf(typed) });
      return redirect(pathOf(endpoint, SECTION), "saved");
    } catch (error) {
      return refused(endpoint, addresses, typed, problemsFrom(error, ""));
    }
  });
}

const NAMES = ["title", "intro", "colour", "logo", "thanks"] as const;

type Typed = Readonly<Record<(typeof NAMES)[number] | "isOn", string>>;

function typedOf({ settings: { page: own } }: Endpoint): Typed {
  const { isOn, title, intro, colour, logo, thanks } = own;
  return {
    isOn: isOn ? "on" : "",
    title: title ?? "",
    intro: intro ?? "",
    colour: colour ?? "",
    logo: logo ?? "",
    thanks: thanks ?? "",
  };
}

function readTyped(form: URLSearchParams): Typed {
  const value = (name: string): string => (form.get(`page_${name}`) ?? "").trim();
  const [title = "", intro = "", colour = "", logo = "", thanks = ""] = NAMES.map(value);
  return { isOn: form.get("page") === "on" ? "on" : "", title, intro, colour, logo, thanks };
}

/** The problems by their fields. Problems with the form's schema are found only when it is saved. */
function problemsOf(typed: Typed, { settings }: Endpoint): Problems {
  const problems = new Map<string, string>();
  for (const name of NAMES) {
    const asked = { ...NO_PAGE, [name]: typed[name] || null };
    tryField(problems, `page_${name}`, () => checkPage(asked, settings.allowedOrigins));
  }
  return problems;
}

function refused(endpoint: Endpoint, addresses: Addresses, typed: Typed, problems: Problems): Answer {
  const content = view(endpoint, addresses, typed, problems);
  return page(`${endpoint.name}: own page`, endpointFrame(endpoint, SECTION, content), 422);
}

function inputOf({ isOn, title, intro, colour, logo, thanks }: Typed) {
  return {
    page: isOn === "on" ? ("on" as const) : ("off" as const),
    page_title: title || null,
    page_intro: intro || null,
    page_colour: colour || null,
    page_logo: logo || null,
    page_thanks: thanks || null,
  };
}

function view(endpoint: Endpoint, addresses: Addresses, typed: Typed, problems: Problems): Html {
  const { language, page: own } = endpoint.settings;
  return html`${problemSummary(problems)}${own.isOn && endpoint.state === "paused" && PAUSED}
    <form class="card stacked" method="post" action="${pathOf(endpoint, SECTION)}" data-unsaved>
      <p>
        A page with the form itself, to link to when you have no page to put it into. It works on phones and without script, in
        ${language === null ? "the language of whoever opens it" : `${languageName(language)}, the language for visitors under Settings`}.
      </p>
      ${own.isOn && addressLines(addresses)}
      ${checkField({ name: "page", label: "The form has a page of its own", value: typed.isOn })}
      ${textField({ name: "page_title", label: "Title", value: typed.title, problems, hint: "Empty is the name of the form." })}
      ${areaField({ name: "page_intro", label: "Above the fields", value: typed.intro, problems })}
      ${colourField({ name: "page_colour", label: "Colour", value: typed.colour, problems, hint: "Of the button and the edge: choose one, or write it like #0b6e5f. Empty is the workspace’s colour, else the built-in one." })}
      ${textField({ name: "page_logo", label: "Address of the logo", value: typed.logo, problems, hint: "An https address of one of the sites that may post, which stand under Settings." })}
      ${areaField({ name: "page_thanks", label: "After it was sent", value: typed.thanks, problems })}
      <p><button class="primary">Save</button></p>
    </form>`;
}

const PAUSED = html`<p class="notice warn">
  The form is paused: whoever opens the address below reads that it cannot be opened, and nobody can send the form. <b>Open again</b>
  above changes that.
</p>`;

function addressLines({ lasting, short }: Addresses): Html {
  return html`<div>
    <p class="secret">
      <span>It is at</span> <a href="${lasting}"><code>${lasting}</code></a>
      <button type="button" data-copy aria-label="Copy: the address of the page">Copy</button>
    </p>
    ${
      short !== null &&
      html`<p class="hint">
        <a href="${short}">${short}</a> leads there too, as long as the form has this name and its page is on.
        The first address stays.
      </p>`
    }
  </div>`;
}
