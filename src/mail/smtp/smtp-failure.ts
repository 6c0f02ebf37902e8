import { plainText } from "../../foundation/plain-text.ts";
import { parseReply, type SmtpDialogue } from "./smtp-dialogue.ts";
import type { SmtpProblem, SmtpReply, SmtpStage } from "./smtp-result.ts";

const MAX_DETAIL_LENGTH = 200;

/** A step that failed, either with a reply of the server or with a problem. */
export class SmtpFailure extends Error {
  readonly stage: SmtpStage;
  readonly reply: SmtpReply | null;
  readonly problem: SmtpProblem | null;

  private constructor(stage: SmtpStage, reply: SmtpReply | null, problem: SmtpProblem | null) {
    super(problem?.detail ?? reply?.text ?? "");
    this.stage = stage;
    this.reply = reply;
    this.problem = problem;
  }

  static byReply(stage: SmtpStage, reply: SmtpReply): SmtpFailure {
    return new SmtpFailure(stage, reply, null);
  }

  static byProblem(stage: SmtpStage, code: string, detail: string): SmtpFailure {
    return new SmtpFailure(stage, null, { code, detail: plainText(detail).slice(0, MAX_DETAIL_LENGTH) });
  }
}

/** The members that the library or Node adds to its errors. */
interface LibraryError {
  readonly message: string;
  /** The library's type of error, or the system's code. */
  readonly code?: string;
  /** The system's code, if `code` is the library's. */
  readonly originalCode?: string;
  /** The server's reply. */
  readonly response?: string;
  /** The command that failed, or `CONN` for a failure of the connection. */
  readonly command?: string;
}

/** @param error an error of the library or of a socket. */
export function failureOf(error: LibraryError, dialogue: SmtpDialogue): SmtpFailure {
  const reply = error.response === undefined ? null : parseReply(error.response);
  const stage = commandStage(error) ?? (reply === null ? dialogue.stage : dialogue.answered);
  if (reply !== null) return SmtpFailure.byReply(stage, reply);
  const code = error.originalCode ?? error.code ?? "EUNKNOWN";
  return SmtpFailure.byProblem(stage, code === "EMESSAGE" ? "ETOOLARGE" : code, error.message);
}

/** The step of the command that failed. The last known reply does not tell it, because commands are sent ahead. */
function commandStage({ command = "", code }: LibraryError): SmtpStage | null {
  if (command === "MAIL FROM") return "sender";
  if (command === "RCPT TO") return "recipient";
  if (command === "DATA") return code === "EMESSAGE" ? "content" : "data";
  return command.startsWith("AUTH") ? "login" : null;
}
