import { CommanderError, InvalidArgumentError } from "commander";
import { describeError, type ExitCode, FormsvcError } from "../../foundation/errors.ts";
import { describeFailure } from "./hints.ts";
import { jsonText, plainText } from "../../foundation/plain-text.ts";
import { writeError } from "./output.ts";

/** Prints an error on standard error, and returns the exit code. */
export function reportFailure(thrown: unknown, asJson: boolean): ExitCode {
  if (thrown instanceof CommanderError) return reportUsage(thrown, asJson);
  if (!(thrown instanceof FormsvcError)) {
    const trace = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    writeError(
      asJson
        ? jsonText({ error: "internal", message: `internal error: ${trace}` })
        : `formsvc: internal error\n${trace}`,
    );
    return 1;
  }
  const message = describeFailure(thrown);
  const lines = message.split("\n").map((line) => `formsvc: ${plainText(line)}`);
  writeError(
    asJson ? jsonText({ error: thrown.code, message, details: thrown.facts.details }) : lines.join("\n"),
  );
  return describeError(thrown.code).exitCode;
}

/** Reports an error of commander, which has already printed help, a version or its own error, unless JSON was asked for. */
function reportUsage(thrown: CommanderError, asJson: boolean): ExitCode {
  if (thrown.exitCode === 0) return 0;
  const message =
    thrown.code === "commander.help" ? "the command is incomplete" : usageMessage(thrown.message);
  if (asJson) writeError(jsonText({ error: "usage", message }));
  // A command threw this error itself, so commander has not printed it. Errors that commander printed are of another class.
  else if (thrown instanceof InvalidArgumentError) writeError(`formsvc: ${plainText(message)}`);
  return 2;
}

/** An error of commander in the form of all other messages: one clause behind the other, and no full stop at the end. */
export function usageMessage(text: string): string {
  return text
    .replace(/^error: /, "")
    .replace(/(is invalid|too many arguments for '\S+')\. ([A-Z]?)/, (_all, what: string, first: string) => {
      return `${what}: ${first.toLowerCase()}`;
    })
    .replace(/\.(\s*)$/, "$1");
}
