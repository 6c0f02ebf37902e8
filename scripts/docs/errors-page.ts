import { describeError, ERROR_TABLE, type ErrorCode } from "../../src/foundation/errors.ts";
import { type VisitorWords, visitorWords } from "../../src/http/visitors/visitor-words.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { POST_REFUSALS } from "../../src/submissions/receive/post-errors.ts";
import { renderTable } from "./table.ts";

/** What a person who meets an error can do. Each new code of the table needs a line here; without it, this file does not compile. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  validation_failed: "Correct the fields that `details` names.",
  invalid_json: "Send one JSON object in UTF-8; `message` says what is wrong with the body.",
  invalid_request: "Correct the header or parameter that `details` names.",
  unauthorized:
    "Send the endpoint's key as `Authorization: Bearer KEY`. A key that `formsvc key list ENDPOINT` shows as working is of another database than the one that the server's log names (`server.listening`). A lost or revoked key is replaced with `formsvc key issue ENDPOINT --kind secret` (or `publishable`).",
  forbidden: "See `message`: resume the endpoint, allow the page's origin, or use the other kind of key.",
  challenge_required:
    "The page must send `_pow` or the token of the service: formsvc.js and our own pages do. A secret key needs none.",
  not_found:
    "Check the address or the name; the matching `list` command shows what there is. (HTTP: the path is wrong.)",
  method_not_allowed: "Use a method that the `Allow` header lists.",
  request_timeout:
    "Send the request again, faster; the limits are `server.requestTimeoutMs`, six times that (a minute at most) for a body that keeps coming, and 240 bytes a second after 5 s.",
  conflict:
    "A post: use a new `Idempotency-Key` for a new one; wait for one that is still under way. All else: see `message`, which says what stands against it.",
  gone: "Events: begin anew without `after`, and read what there is from its list. A file: `message` says why its bytes are not given.",
  precondition_failed: "Read it again, make the change anew, and send it with the new `ETag`.",
  payload_too_large: "Send less, or raise `server.bodyLimitBytes`.",
  unsupported_media_type: "Send the content type that `message` names.",
  rate_limited: "Wait for the seconds in `Retry-After`; see `rateLimit` in the configuration.",
  submission_limit: "Upgrade with `formsvc workspace set-plan`, or wait for the next month (UTC).",
  upload_limit:
    "Wait for the seconds in `Retry-After`, or send the form without files; see `files.maxBytesPerAddressPerDay` and `files.maxFormShare`.",
  storage_limit:
    "Send the form without files; upgrade with `formsvc workspace set-plan`, or delete submissions with files.",
  spam_blocked: "Nothing is said to the sender on purpose.",
  headers_too_large: "Send fewer or shorter headers and cookies.",
  internal: "Search the log for the request id (`X-Request-Id`), and report it as a defect.",
  unavailable: "Send the request again after the seconds in `Retry-After`; the log says why.",
  failed: "See the message.",
  usage: "See the message; `--help` shows what the command takes.",
  config_invalid: "Correct the setting whose path is named; `formsvc config check` tries again.",
  schema_invalid: "Correct the places that the message names; `formsvc schema check FILE` tries again.",
  ambiguous: "Use the id instead of the name, or say which one with the flag that the message names.",
  already_exists: "Choose another name, or use the one that is there.",
  plan_limit: "Upgrade with `formsvc workspace set-plan`, or delete endpoints that are no longer needed.",
  database_busy: "Try again; if it stays so, find the program that holds the file open for writing.",
  database_unusable: "See the message: it names the database and what to check.",
  server_running: "Stop the server that the message names, or give another `--db`.",
};

const POST_CODES = [...POST_REFUSALS, "invalid_json", "request_timeout", "unavailable", "internal"] as const;

function visitorRows(): string[][] {
  const row = (name: string, { problem, sentence }: VisitorWords): string[] => [
    name,
    `\`${problem}\``,
    wordingIn("en").text(sentence),
  ];
  return [
    row(
      "`submission_limit`, and the post is held",
      visitorWords({ code: "submission_limit", facts: { isHeld: true } }),
    ),
    ...POST_CODES.map((code) => row(`\`${code}\``, visitorWords({ code, facts: {} }))),
  ];
}

export function renderErrors(): string {
  const rows = (Object.keys(ERROR_TABLE) as ErrorCode[]).map((code) => {
    const { status, error, exitCode, sentence } = describeError(code);
    return [
      `\`${code}\``,
      String(status),
      `\`${error}\``,
      String(exitCode),
      sentence.replaceAll("<", "&lt;"),
      ADVICE[code],
    ];
  });
  return `# Errors

Made from \`src/foundation/errors.ts\` by \`npm run fix\`. Over HTTP, \`status\` is the status of the answer, and
\`error\` is the member of that name in the body. The sentence is in \`message\` if nothing more exact is known. On the command
line, the exit code is the command's and the message is on standard error. With \`--json\` it is an object whose \`error\` is
the code of the first column.

\`message\` is for the developer. [What the visitor of a page reads](#what-visitors-read) is beside it in the errors of posts.

${renderTable(["code", "status", "`error`", "exit code", "sentence", "what to do"], rows)}

## What visitors read

Each error of a post (\`POST /submit\` and \`POST /f/{key}\`) has a \`visitor_message\` beside \`message\`: a sentence for whoever filled
in the form. The pages and \`formsvc.js\` show it, in the
visitor's [language](languages.md). It never speaks of plans. If the month's limit is reached, it says that the message is
there only if the post is held; the body has \`"notices":["held"]\` then. An endpoint's page for errors (\`--error-url\`) is called with \`?error=\` and the word of the second column.

${renderTable(["code", "`?error=`", "`visitor_message`"], visitorRows())}
`;
}
