import type { Steps } from "../../database/steps.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import {
  CHALLENGE_KINDS,
  type Challenge,
  checkChallengeSecret,
  isVendor,
  readVendorFault,
} from "../../endpoints/challenge.ts";
import { setChallengeSecret, setEndpoint } from "../../endpoints/endpoint-operations.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { html, type Html } from "../../foundation/html.ts";
import { page, redirect } from "../answer.ts";
import {
  checkField,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  selectField,
  textField,
  problemsFrom,
} from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import type { Routes, Visit } from "../routes.ts";
import { endpointFrame, pathOf } from "./endpoint-frame.ts";

const SECTION = "/challenge";

/** `/dashboard/endpoints/:id/challenge`: the task that visitors' browsers must solve. */
export function endpointChallengePages(routes: Routes, parts: DashboardParts): void {
  function* readSteps({ viewer, params }: Visit): Steps<Shown> {
    const endpoint = yield* getViewableEndpoint(viewer, params["id"] ?? "");
    const isAsking = isVendor(endpoint.settings.challenge.kind);
    return { endpoint, fault: isAsking ? yield* readVendorFault(endpoint.id) : null };
  }
  const read = (visit: Visit): Promise<Shown> => parts.db.read(() => readSteps(visit));
  const show = (shown: Shown, typed: Typed, problems: Problems, status = 200) => {
    const { endpoint } = shown;
    const content = endpointFrame(endpoint, SECTION, view(shown, typed, problems));
    return page(`${endpoint.name}: challenge`, content, status);
  };

  routes.read("/endpoints/:id/challenge", async (visit) => {
    const shown = await read(visit);
    return show(shown, typedOf(shown.endpoint), NO_PROBLEMS);
  });

  routes.write("/endpoints/:id/challenge", async (visit) => {
    const shown = await read(visit);
    const { endpoint } = shown;
    const typed = readTyped(visit.form);
    const secret = (visit.form.get("challenge_secret") ?? "").trim();
    try {
      // The secret is checked before anything is changed, so that a refusal leaves nothing half done.
      if (secret !== "") checkChallengeSecret(secret);
      await visit.perform(setEndpoint, {
        endpoint: endpoint.id,
        challenge: typed.kind,
        challenge_required: typed.isRequired === "on" ? "on" : "off",
        challenge_site_key: typed.siteKey || null,
      });
      if (secret !== "") await visit.perform(setChallengeSecret, { endpoint: endpoint.id, secret });
      return redirect(pathOf(endpoint, SECTION), "saved");
    } catch (error) {
      return show(shown, typed, problemsFrom(error, ""), 422);
    }
  });
}

interface Shown {
  readonly endpoint: Endpoint;
  /** Why the service gives no verdict on posts; null if it does, or if the form uses no service. */
  readonly fault: string | null;
}

interface Typed {
  readonly kind: Challenge["kind"];
  readonly isRequired: string;
  readonly siteKey: string;
}

function typedOf({ settings: { challenge } }: Endpoint): Typed {
  const { kind, isRequired, siteKey } = challenge;
  return { kind, isRequired: isRequired ? "on" : "", siteKey: siteKey ?? "" };
}

function readTyped(form: URLSearchParams): Typed {
  const kind = CHALLENGE_KINDS.find((each) => each === form.get("challenge")) ?? "off";
  const isRequired = form.get("challenge_required") === "on" ? "on" : "";
  return { kind, isRequired, siteKey: (form.get("challenge_site_key") ?? "").trim() };
}

const KIND_WORDS: Readonly<Record<Challenge["kind"], string>> = {
  off: "Nothing",
  pow: "A task that the browser solves by itself, without another service",
  turnstile: "Turnstile of Cloudflare",
  hcaptcha: "hCaptcha",
};

function view({ endpoint, fault }: Shown, typed: Typed, problems: Problems): Html {
  const options = CHALLENGE_KINDS.map((value) => ({ value, label: KIND_WORDS[value] }));
  return html`${problemSummary(problems)}
    <form class="card stacked" method="post" action="${pathOf(endpoint, SECTION)}" data-unsaved>
      <p>
        What a visitor’s browser must solve before it sends the form. It makes it dearer for robots to send thousands of posts. A post
        without it is more suspicious, and is refused only if you require it: visitors without script could not write to you then.
      </p>
      ${fault !== null && html`<p class="notice warn">Posts are taken without a verdict of the service: ${fault}.</p>`}
      ${selectField({ name: "challenge", label: "Ask for", value: typed.kind }, options)}
      ${checkField({ name: "challenge_required", label: "Refuse posts without it", value: typed.isRequired })}
      ${textField({ name: "challenge_site_key", label: "Site key", value: typed.siteKey, hint: "Of Turnstile or hCaptcha." })}
      ${textField({ name: "challenge_secret", label: "Secret", value: "", hint: "Of the same service. It is not shown again; leave this empty to keep the one that is there." })}
      <p><button class="primary">Save</button></p>
    </form>`;
}
