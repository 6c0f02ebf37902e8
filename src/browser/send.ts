import type { UploadProgress, Refused, Result } from "./client-api.ts";

/** What visitors read if nothing from the server arrives, by language. scripts/embed-browser-client.ts inserts it. */
declare const UNREACHABLE: { readonly en: string } & Readonly<Record<string, string>>;

/** The waits between the tries. */
const WAITS_MS = [1000, 2000, 4000, 8000];
/** The longest `Retry-After` that a visitor has to wait for, in seconds. */
const MAX_RETRY_AFTER = 30;

export interface OutgoingPost {
  /** The tag of the visitor's language; it may have any value. */
  readonly language: unknown;
  readonly body: BodyInit;
  readonly headers: Readonly<Record<string, string>>;
  /** Called with the number of bytes of the body that were sent. A further try begins at 0 again. */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
}

/** The part of a `Response` that is read. */
interface Answer extends Pick<Response, "ok" | "status"> {
  readonly headers: Pick<Headers, "get">;
  text(): Promise<string>;
}

/** Sends a request, and repeats it while the server is busy or cannot be reached. */
export async function send(address: string, sending: OutgoingPost): Promise<Result> {
  const { language } = sending;
  for (let tries = 0; ; tries += 1) {
    const wait = WAITS_MS[tries];
    let answer: Answer | undefined;
    try {
      answer = await post(address, sending);
      const after = Number(answer.headers.get("Retry-After"));
      // 409 with `Retry-After` means that an earlier try of the same post is still being stored.
      const busy = answer.status === 503 || (answer.status === 409 && after > 0);
      if (!busy || wait === undefined) return await read(answer, language);
      await sleep(Math.max(wait, Math.min(after || 0, MAX_RETRY_AFTER) * 1000));
    } catch {
      if (wait === undefined) {
        return failure({ status: 0, error: "Network error", message: UNREACHABLE.en }, language);
      }
      await sleep(wait);
    }
  }
}

/** The least time between two reports of progress. With the last report, which always comes, there are at most 10 a second. */
const PROGRESS_MS = 125;

/** The longest time for which an upload may stand still. */
const STILL_MS = 30_000;

/** Sends one request. It uses XMLHttpRequest if progress is wanted, because `fetch` cannot report it. */
function post(address: string, { body, headers, onProgress }: OutgoingPost): Promise<Answer> {
  if (!onProgress) return fetch(address, { method: "POST", body, headers });
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    const begun = performance.now();
    request.timeout = STILL_MS;
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      // The browser counts the limit from the start of the request. What was sent whole may wait for its answer.
      const limit = performance.now() - begun + STILL_MS;
      if (loaded < total && limit < request.timeout + PROGRESS_MS) return;
      request.timeout = loaded < total ? limit : 0;
      onProgress({ loaded, total });
    });
    request.addEventListener("loadend", () => {
      const { status } = request;
      if (!status) return reject();
      return resolve({
        ok: status < 300,
        status,
        text: async () => request.responseText,
        headers: { get: (name) => request.getResponseHeader(name) },
      });
    });
    request.send(body as XMLHttpRequestBodyInit);
  });
}

export function randomKey(): string {
  return crypto.getRandomValues(new Uint8Array(16)).join("-");
}

async function read(answer: Answer, language: unknown): Promise<Result> {
  const { ok, status } = answer;
  const reply = parse(await answer.text());
  const isOurs = [reply["message"], reply[ok ? "submission_id" : "error"]].every(
    (text) => typeof text === "string",
  );
  // A server of an earlier version has one text for everybody.
  const visitor = ok ? {} : { visitor_message: reply["visitor_message"] ?? reply["message"] };
  if (isOurs) return { ...reply, ...visitor, ok, status, details: fieldsOf(reply["details"]) } as Result;
  // The answer came from something between the browser and the server.
  const message = "Something went wrong. Please try again.";
  return failure({ status, error: "Unknown answer", message }, language);
}

/** A refusal that the server did not send, because nothing from it arrived. */
function failure(reply: Pick<Refused, "status" | "error" | "message">, language: unknown): Refused {
  const tag = typeof language === "string" && language ? language : (globalThis.navigator?.language ?? "");
  const main = tag.split("-", 1)[0]?.toLowerCase() ?? "";
  const known = Object.keys(UNREACHABLE).includes(main) ? main : "en";
  return { ok: false, ...reply, visitor_message: UNREACHABLE[known] as string };
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** The problems by field; undefined if the details are about something else, which the message says too. */
function fieldsOf(details: unknown): Refused["details"] {
  const fields = Object.entries(Object(details) as NonNullable<Refused["details"]>).filter(
    ([, field]) => typeof field?.issues?.[0]?.message === "string",
  );
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/** Waits for the time and a random addition, so that many pages do not come back at once. */
function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms * (1 + Math.random() / 4)));
}
