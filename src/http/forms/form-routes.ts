import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { MAX_ORIGIN_LENGTH } from "../../endpoints/allowed-origin.ts";
import { type Brand, NO_BRAND } from "../../foundation/brand.ts";
import { describeError, type ErrorCode, type FormsvcError } from "../../foundation/errors.ts";
import type { Log } from "../../foundation/log.ts";
import { LANGUAGE_MEMBER } from "../../languages/language.ts";
import type { TextKey, Wording } from "../../languages/wording.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FileBounds } from "../../schemas/posted-file.ts";
import { IssueReport, type ValidationDetails } from "../../schemas/issue-report.ts";
import { type Caller, PAGE_KEY_ID } from "../../submissions/receive/authenticate.ts";
import { TOKEN_MEMBERS } from "../../spam/spam-post.ts";
import { coerceForm, fieldPath, type FormEntry } from "../../submissions/receive/coerce-form.ts";
import { allowAnyOrigin, answerPreflight } from "../cors.ts";
import { isFileName } from "../../submissions/receive/often-sent.ts";
import type { PageWatch } from "../../submissions/receive/page-faults.ts";
import { beginErrorReply, detailsFor, errorBody } from "../error-reply.ts";
import {
  errorAddress,
  FIRST_ORIGIN_MEMBER,
  isOwnOrigin,
  isRedirectIgnored,
  REDIRECT_MEMBER,
  successAddress,
  webOrigin,
} from "./form-addresses.ts";
import {
  checkMediaType,
  mediaType,
  MULTIPART,
  readFormBody,
  readWhole,
  URL_ENCODED,
} from "../posts/form-body.ts";
import {
  asksForFiles,
  isRepeated,
  NOTHING_ASKED,
  type PageForm,
  pageForm,
  withoutInputs,
} from "./form-fields.ts";
import { type ErrorPage, errorPage, ownErrorPage, repeatedBytes, successPage } from "./form-page.ts";
import { onceOf } from "../posts/once.ts";
import { framersOf } from "./form-frames.ts";
import { formOperation } from "../posts/post-operations.ts";
import { prefersJson } from "../prefers-json.ts";
import { lookOf, OWN_PAGE_PATH, ownPageRoutes, policyOf, sendThanks } from "./own-page-routes.ts";
import { pageChallenge, withChallenge } from "./page-challenge.ts";
import { pagePolicy, sendPage } from "../visitors/visitor-page.ts";
import { visitorWording } from "../visitors/visitor-language.ts";
import { type VisitorProblem, visitorWords } from "../visitors/visitor-words.ts";
import {
  acceptedBody,
  beginPost,
  bringsFiles,
  identify,
  type PostParts,
  takePost,
} from "../posts/receive-post.ts";
import { isUploadBody, parseUpload, takeUpload } from "../posts/take-upload.ts";

export interface FormRoutesParts extends PostParts {
  readonly baseUrl: string | null;
  readonly log: Log;
  readonly onPageFault: PageWatch;
}

interface FormRequest {
  readonly Params: { readonly key: string };
}

/** The state of a form's post, which is filled in step by step. */
interface FormExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  caller: Caller | null;
  entries: readonly FormEntry[];
  /** False if the whole body was read and nobody chose a file. */
  mayHaveFiles?: boolean;
  /** The origin of the page that the visitor filled in. */
  origin: string | undefined;
  /** Whether the post came from the form's own page. */
  readonly isOwnPage: boolean;
}

/**
 * `POST /f/{publishable key}`: posts of plain HTML forms, answered with pages. The routes are in a scope of their own, so that their body
 * parser and their error pages apply to no other route.
 */
export function formRoutes(server: FastifyInstance, parts: FormRoutesParts): void {
  void server.register((scope, _options, done) => {
    const { bodyLimitBytes } = parts;
    scope.addContentTypeParser(URL_ENCODED, { parseAs: "buffer" }, (_request, body, parsed) =>
      parsed(null, body),
    );
    scope.addContentTypeParser(MULTIPART, (request: FastifyRequest, payload: IncomingMessage) =>
      bringsFiles(request)
        ? parseUpload(parts, request, { wantsPage: !prefersJson(request.headers.accept) })
        : readWhole(payload, bodyLimitBytes),
    );
    scope.setErrorHandler<Error, FormRequest>((error, request, reply) => {
      const { origin } = request.headers;
      const caller = request.begun?.caller ?? null;
      const isOwnPage = request.url.startsWith(OWN_PAGE_PATH);
      return answerError(parts, { request, reply, caller, entries: [], origin, isOwnPage }, error);
    });
    ownPageRoutes(scope, parts, (request, reply) =>
      takeOrExplain(parts, { request, reply, isOwnPage: true }),
    );
    scope.options("/f/:key", (_request, reply) => answerPreflight(reply));
    scope.post<FormRequest>("/f/:key", {
      config: { operation: formOperation },
      onRequest: (request, reply, done) => {
        allowAnyOrigin(reply);
        checkMediaType(request.headers["content-type"]);
        const { origin, host } = request.headers;
        const isMultipart = mediaType(request.headers["content-type"]) === MULTIPART;
        // A form on one of our own pages names in its body the page that it was on first.
        const source = isOwnOrigin(origin, parts.baseUrl, host) ? null : { origin, fromBrowser: true };
        beginPost(
          parts,
          { request, reply },
          {
            authorization: authorizationOf(request),
            source,
            isMultipart,
            wantsPage: !prefersJson(request.headers.accept),
          },
          done,
        );
      },
      handler: (request, reply) => takeOrExplain(parts, { request, reply, isOwnPage: false }),
    });
    done();
  });
}

async function takeOrExplain(
  parts: FormRoutesParts,
  exchange: Pick<FormExchange, "request" | "reply" | "isOwnPage">,
): Promise<FastifyReply> {
  const { request } = exchange;
  const caller = request.begun?.caller ?? null;
  const form: FormExchange = { ...exchange, caller, entries: [], origin: request.headers.origin };
  try {
    return await takeForm(parts, form);
  } catch (error) {
    return answerError(parts, form, error);
  }
}

async function takeForm(parts: FormRoutesParts, form: FormExchange): Promise<FastifyReply> {
  const problem = await readForm(parts, form);
  return answerAccepted(parts, form, await postForm(parts, form, problem));
}

/** Notes what the form contains. Returns the problem of its inputs, or null. It is reported after the problems of the request. */
async function readForm(parts: FormRoutesParts, form: FormExchange) {
  const { request } = form;
  const { body } = request;
  const type = request.headers["content-type"] ?? "";
  const { entries, problem } = isUploadBody(body) ? body : await readFormBody(type, rawBody(request));
  form.entries = entries;
  if (isUploadBody(body)) form.mayHaveFiles = body.mayHaveFiles;
  request.saidLanguage = entryOf(entries, LANGUAGE_MEMBER);
  if (isOwnOrigin(form.origin, parts.baseUrl, request.headers.host))
    form.origin = entryOf(entries, FIRST_ORIGIN_MEMBER) ?? undefined;
  if (!isUploadBody(body)) noteLostFile(parts, form);
  return problem;
}

async function postForm(
  parts: FormRoutesParts,
  form: FormExchange,
  problem: Awaited<ReturnType<typeof readForm>>,
) {
  const { entries, origin } = form;
  const { body } = form.request;
  // The address of a form is written in a page, so a secret key in it would be public.
  const sent = { source: { origin, fromBrowser: true }, once: onceOf(form.request) };
  if (isUploadBody(body)) return takeUpload(parts, form, body, sent);
  return takePost(parts, form, {
    // The inputs and not their bytes, because a multipart form has another boundary each time it is sent.
    body: Buffer.from(JSON.stringify(entries.filter(([name]) => !TOKEN_MEMBERS.has(name)))),
    readFields: (_body, definition) => {
      if (problem !== null) throw problem;
      return coerceForm(entries, definition);
    },
    ...sent,
  });
}

/** Answers programs with JSON, and people with the page that the form names or a built-in one. */
function answerAccepted(
  parts: FormRoutesParts,
  { request, reply, entries, origin, isOwnPage }: FormExchange,
  receipt: Awaited<ReturnType<typeof postForm>>,
): FastifyReply {
  const { endpoint, brand } = receipt.caller.ready;
  const { id, settings } = endpoint;
  if (isOwnPage) return sendThanks(request, reply, receipt.caller);
  const redirect = entryOf(entries, REDIRECT_MEMBER);
  // The visitor is sent to another page without a message; the author of the page must be able to see why.
  const isIgnored = isRedirectIgnored(redirect, origin, settings);
  if (isIgnored) {
    void reply.header("x-formsvc-notice", "redirect-ignored");
    parts.onPageFault(id, "redirect", webOrigin(redirect ?? undefined) ?? "");
  }
  if (prefersJson(request.headers.accept))
    return reply.send({
      ...acceptedBody(receipt),
      ...thanksFor(request),
      ...(isIgnored && { notices: ["redirect_ignored"] }),
    });
  const address = successAddress(redirect, origin, settings);
  if (address !== null) return reply.code(303).header("location", address).send();
  const backTo = webOrigin(origin);
  return sendPage(
    reply,
    successPage(visitorWording(request), backTo, brand),
    pagePolicy([], framersOf(settings.allowedOrigins, backTo), brand.colour),
  );
}

/** Without `enctype` a browser sends a file's name in place of the file. The post is refused, and the author of the page must learn why. */
function noteLostFile(parts: FormRoutesParts, { caller, entries }: FormExchange): void {
  if (caller === null) return;
  const { schema, endpoint } = caller.ready;
  const fieldOf = (name: string): string => fieldPath(name, schema.definition)[0] ?? name;
  const lost = entries.find(([name, value]) => schema.fileFields?.has(fieldOf(name)) && isFileName(value));
  if (lost !== undefined) parts.onPageFault(endpoint.id, "file_name", fieldOf(lost[0]));
}

function rawBody({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** Bytes of what the visitor typed. */
function textBytes(request: FastifyRequest): number {
  return isUploadBody(request.body) ? request.body.identity.length : rawBody(request).length;
}

/** The sentence of the success page, for a client that sends a language, even an empty one. `formsvc.js` does, and shows the sentence. */
function thanksFor(request: FastifyRequest): { readonly visitor_message?: string } {
  if (request.saidLanguage === null) return {};
  return { visitor_message: visitorWording(request).text("thanksReceived") };
}

/** The key as a header. A form has its key in its address, because a page without a script cannot send the header. */
function authorizationOf(request: FastifyRequest): string {
  return `Bearer ${keyOf(request)}`;
}

function keyOf({ params }: FastifyRequest): string {
  return (params as FormRequest["Params"]).key;
}

/** The last value that was sent under a name. */
function entryOf(entries: readonly FormEntry[], name: string): string | null {
  return entries.findLast(([entry]) => entry === name)?.[1] ?? null;
}

/** Errors that are thrown before the endpoint is looked up. The endpoint may still have a page for errors. */
const REFUSED_EARLY: ReadonlySet<ErrorCode> = new Set(["payload_too_large", "unsupported_media_type"]);

async function answerError(
  parts: FormRoutesParts,
  form: FormExchange,
  thrown: unknown,
): Promise<FastifyReply> {
  const { request, reply } = form;
  const error = beginErrorReply({ request, reply, log: parts.log }, thrown, parts.bodyLimitBytes);
  if (prefersJson(request.headers.accept)) return reply.send(errorBody(error, request));
  if (form.caller === null && !form.isOwnPage && REFUSED_EARLY.has(error.code)) {
    form.caller = await identify(parts, request, authorizationOf(request)).catch(() => null);
  }
  const settings = form.caller?.ready.endpoint.settings;
  if (settings?.errorUrl) {
    return reply
      .code(303)
      .header("location", errorAddress(settings.errorUrl, visitorWords(error).problem))
      .send();
  }
  // Our own page is not a site to go back to.
  const backTo = form.isOwnPage ? null : webOrigin(form.origin);
  const redirect = entryOf(form.entries, REDIRECT_MEMBER);
  const next = settings === undefined ? null : successAddress(redirect, form.origin, settings);
  const wording = visitorWording(request, form.caller ?? undefined);
  const again = formAgain(form, error, { wording, fileBounds: parts.uploads.limits });
  const brand = brandOf(form);
  const isSent = request.method === "POST";
  const page = {
    ...(isSent ? pageWords(error) : closedWords(error)),
    isSent,
    wording,
    requestId: request.id,
    backTo,
    form: again,
    brand,
  };
  if (form.isOwnPage && form.caller !== null && isRepeated(again)) {
    const look = lookOf(form.caller);
    return sendPage(reply, ownErrorPage(page, look), withChallenge(policyOf(look), again.challenge ?? null));
  }
  const framers =
    settings === undefined || form.isOwnPage ? backTo : framersOf(settings.allowedOrigins, backTo);
  const policy = pagePolicy(next === null ? [] : [new URL(next).origin], framers, brand.colour);
  return sendPage(reply, errorPage(page), withChallenge(policy, again.challenge ?? null));
}

/** The brand for an error page; none if the key belongs to no endpoint. */
function brandOf({ caller, isOwnPage }: FormExchange): Brand {
  if (caller === null) return NO_BRAND;
  return isOwnPage ? lookOf(caller).brand : caller.ready.brand;
}

/** Statuses of refusals that the same input would get again. Their pages are short, because a stranger may provoke thousands. */
const NEVER_ASKED_AGAIN: ReadonlySet<number> = new Set([401, 403, 429]);
/** Errors after which the same texts may be accepted with fewer files or none, or with another proof. */
const ABOUT_FILES: ReadonlySet<ErrorCode> = new Set(["upload_limit", "storage_limit", "challenge_required"]);
/** The largest number of bytes of a page for each byte of the body. If a form would take more, the page does not repeat it. */
const MAX_REPEATED = 4;
/** The largest number of repeated inputs that the schema does not declare. */
const MAX_OTHERS = 100;

/** The form with the visitor's input, to be sent again. It has all of the input or none, because an omitted part would be lost unseen. */
function formAgain(
  { caller, request, entries, mayHaveFiles, origin, isOwnPage }: FormExchange,
  error: FormsvcError,
  { wording, fileBounds }: { readonly wording: Wording; readonly fileBounds: FileBounds },
): PageForm {
  const isAboutFiles = ABOUT_FILES.has(error.code);
  if (caller === null || (!isAboutFiles && NEVER_ASKED_AGAIN.has(describeError(error.code).status)))
    return NOTHING_ASKED;
  const { schema, honeypots, endpoint } = caller.ready;
  const { definition } = schema;
  const details = problemsOf(error, wording, definition);
  const { unknownFields } = endpoint.settings;
  const asked = { definition, unknownFields, honeypots, isWhole: isOwnPage, fileBounds };
  const form = pageForm(entries, asked, details, wording);
  const fits = form.others.length <= MAX_OTHERS && repeatedBytes(form) <= MAX_REPEATED * textBytes(request);
  if (!fits) return withoutInputs(form);
  const isSayable = !isOwnPage && origin !== undefined && origin.length <= MAX_ORIGIN_LENGTH;
  const hidden: FormEntry[] = isSayable ? [[FIRST_ORIGIN_MEMBER, origin]] : [];
  const asking = caller.key.id === PAGE_KEY_ID ? { form: endpoint.id } : { key: keyOf(request) };
  const challenge = pageChallenge(endpoint.settings.challenge, asking);
  const hasLostFiles = mayHaveFiles !== false && asksForFiles(form);
  return { ...form, hidden: [...form.hidden, ...hidden], challenge, hasLostFiles };
}

/** The problems that the page shows at its inputs. */
function problemsOf(error: FormsvcError, wording: Wording, definition: SchemaDefinition): ValidationDetails {
  if (error.code === "validation_failed") return detailsFor(error, wording, definition) as ValidationDetails;
  const { field, maximum } = (error.facts.details ?? {}) as { field?: unknown; maximum?: unknown };
  // A file that is larger than the limit for any file.
  if (error.code !== "payload_too_large" || typeof field !== "string" || typeof maximum !== "number")
    return {};
  const report = new IssueReport(wording, definition);
  report.enter(field);
  report.add({ code: "invalid_file", reason: "size", maximum });
  return report.details();
}

/** A page's title and heading, by the problem of the form. */
const HEADINGS: Readonly<Record<VisitorProblem, TextKey>> = {
  held: "headingHeld",
  invalid: "headingInvalid",
  refused: "headingRefused",
  later: "headingRefused",
};

function pageWords(error: FormsvcError): Pick<ErrorPage, "heading" | "sentence" | "problem" | "error"> {
  const { problem, sentence } = visitorWords(error);
  const { status, error: title } = describeError(error.code);
  // Only a failed check against the schema is about the answers.
  const heading = HEADINGS[problem === "invalid" && error.code !== "validation_failed" ? "refused" : problem];
  // The monthly limit is no business of the visitor's: it is between the owner and us.
  const kind = error.code === "submission_limit" ? problem : title;
  return { heading, sentence, problem, error: `${kind} (${status})` };
}

/** The words of the page for a form's own page that does not exist, or is not available now. */
function closedWords(error: FormsvcError): ReturnType<typeof pageWords> {
  const { code } = error;
  const sentence =
    code === "not_found" ? "noFormHere" : code === "forbidden" ? visitorWords(error).sentence : "openAgain";
  return { ...pageWords(error), heading: "headingClosed", sentence };
}
