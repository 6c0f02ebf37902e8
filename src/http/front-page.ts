import type { FastifyReply, FastifyRequest } from "fastify";
import { html } from "../foundation/html.ts";
import { prefersPage } from "./prefers-json.ts";
import { pagePolicy, sendPage, visitorPage } from "./visitor-page.ts";

/** Whether a request is a browser's for the server's bare address. Everybody else is told, as JSON, that nothing is there. */
export function isForFront({ method, headers }: FastifyRequest, path: string): boolean {
  return path === "/" && (method === "GET" || method === "HEAD") && prefersPage(headers.accept);
}

/** Leads to the dashboard, or says what this is. @param dashboard its path; null if this client is not to see one. */
export function answerFront(reply: FastifyReply, dashboard: string | null): FastifyReply {
  if (dashboard !== null) return reply.code(303).header("location", dashboard).send();
  return sendPage(reply, PAGE, pagePolicy([], null));
}

const PAGE = visitorPage(
  "formsvc",
  html`<h1>This is a form service</h1>
<p>It takes what people write into the forms of other pages. There is nothing to do or to read at this address.</p>`,
);
