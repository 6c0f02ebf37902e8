import type { FastifyReply, FastifyRequest } from "fastify";
import { html } from "../../foundation/html.ts";
import { acceptedLanguage, type Language } from "../../languages/language.ts";
import { wordingIn } from "../../languages/wording.ts";
import { prefersPage } from "../prefers-json.ts";
import { pagePolicy, sendPage, visitorPage } from "./visitor-page.ts";

/** Whether a browser requests the server's bare address. Every other client gets a 404 in JSON. */
export function isForFront({ method, headers }: FastifyRequest, path: string): boolean {
  return path === "/" && (method === "GET" || method === "HEAD") && prefersPage(headers.accept);
}

/** Redirects to the dashboard, or says what this server is. @param dashboard the dashboard's path; null if this client may not see it. */
export function answerFront(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  dashboard: string | null,
): FastifyReply {
  if (dashboard !== null) return reply.code(303).header("location", dashboard).send();
  return sendPage(
    reply,
    frontPage(acceptedLanguage(headers["accept-language"]) ?? "en"),
    pagePolicy([], null),
  );
}

function frontPage(language: Language): string {
  const wording = wordingIn(language);
  return visitorPage(
    language,
    "formsvc",
    html`<h1>${wording.text("frontHeading")}</h1>
<p>${wording.text("frontText")}</p>`,
  );
}
