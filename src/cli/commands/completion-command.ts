import type { Command } from "commander";
import { FormsvcError } from "../../foundation/errors.ts";
import { addCommand, command } from "../command.ts";

export function register(program: Command): void {
  addCommand(
    program,
    command({
      usage: "completion <shell>",
      isLocal: true,
      summary: "Print a completion script for bash, zsh or fish",
      examples: [
        'eval "$(formsvc completion bash)"',
        "formsvc completion fish > ~/.config/fish/completions/formsvc.fish",
      ],
      action: async (context, _options, [shell]) => {
        const script = await renderCompletion(program, shell);
        if (context.output.isJson) context.output.json({ script });
        else context.output.line(script);
      },
    }),
  );
}

/**
 * The script that completes the commands of a whole program.
 *
 * @throws FormsvcError `usage` for an unknown shell.
 */
export async function renderCompletion(program: Command, shell: string): Promise<string> {
  const render = SHELLS[shell];
  if (render === undefined) {
    throw new FormsvcError(
      "usage",
      `there is no completion for ${shell}; there is for: ${Object.keys(SHELLS).join(", ")}`,
    );
  }
  return render(await collectWords(program), collectFileTakers(program));
}

/**
 * The words that may follow the words typed so far, which are the keys: `""`, `"endpoint"`, `"endpoint create"`. For an option with
 * choices, like `"key issue --kind"`, they are the choices.
 */
type WordsAfter = ReadonlyMap<string, readonly string[]>;

/** @param fileTakers the commands whose argument is a file; they offer flags only when a hyphen is typed */
const SHELLS: Readonly<Record<string, (words: WordsAfter, fileTakers: readonly string[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

async function collectWords(program: Command): Promise<WordsAfter> {
  const words = new Map<string, string[]>();
  const visit = (command: Command, path: string): void => {
    const flags = command.options.map((option) => option.long ?? option.short ?? "").filter(Boolean);
    words.set(path, [...command.commands.map((below) => below.name()), ...flags, "--help"]);
    for (const { long, argChoices } of command.options)
      if (argChoices !== undefined) words.set(`${path} ${long}`, argChoices);
    for (const below of command.commands) visit(below, pathOf(below, path));
  };
  visit(program, "");
  const nouns = program.commands.map((noun) => noun.name());
  words.set("", ["help", ...(words.get("") ?? [])]);
  words.set("help", nouns);
  words.set("completion", [...Object.keys(SHELLS), ...(words.get("completion") ?? [])]);
  const { topics } = await import("../../manual/manual.ts");
  words.set("docs", [...topics.map(({ name }) => name), ...(words.get("docs") ?? [])]);
  return words;
}

function collectFileTakers(command: Command, path = ""): string[] {
  const isOne = command.registeredArguments.some((argument) => argument.name() === "file");
  const below = command.commands.flatMap((inner) => collectFileTakers(inner, pathOf(inner, path)));
  return isOne ? [path, ...below] : below;
}

function pathOf(command: Command, above: string): string {
  return above === "" ? command.name() : `${above} ${command.name()}`;
}

/** The arms of a `case`. All words are our own letters, digits and hyphens, so nothing inside the quotes needs escaping. */
function caseArms(words: WordsAfter, indent: string): string {
  return [...words].map(([path, next]) => `${indent}'${path}') words='${next.join(" ")}' ;;`).join("\n");
}

function fileArm(fileTakers: readonly string[]): string {
  return `${fileTakers.map((path) => `'${path}'`).join("|")}) return 0 ;;`;
}

/** A script for bash. It looks words up by the first two words that are not options; a command without verbs by its first word alone. */
function bashScript(words: WordsAfter, fileTakers: readonly string[]): string {
  return `# formsvc completion for bash
_formsvc_next() {
  local words=""
  case "$1" in
${caseArms(words, "    ")}
  esac
  printf '%s' "$words"
}
_formsvc_takes_file() {
  case "$1" in
    ${fileArm(fileTakers)}
  esac
  return 1
}
_formsvc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" index
  for ((index = 1; index < COMP_CWORD && index <= 2; index++)); do
    [[ "\${COMP_WORDS[index]}" == -* ]] && break
    path="\${path:+$path }\${COMP_WORDS[index]}"
  done
  words="$(_formsvc_next "$path \${COMP_WORDS[COMP_CWORD-1]}")"
  if [[ -z "$words" ]] && { [[ "$current" == -* ]] || ! _formsvc_takes_file "$path"; }; then
    words="$(_formsvc_next "$path")"
    [[ -z "$words" ]] && words="$(_formsvc_next "\${path%% *}")"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [[ \${#COMPREPLY[@]} -eq 0 ]] && mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -F _formsvc formsvc`;
}

function zshScript(words: WordsAfter, fileTakers: readonly string[]): string {
  return `#compdef formsvc
_formsvc_next() {
  local words=""
  case "$1" in
${caseArms(words, "    ")}
  esac
  print -r -- "$words"
}
_formsvc_takes_file() {
  case "$1" in
    ${fileArm(fileTakers)}
  esac
  return 1
}
_formsvc() {
  local typed="" next="" index
  for ((index = 2; index < CURRENT && index <= 3; index++)); do
    [[ "\${words[index]}" == -* ]] && break
    typed="\${typed:+$typed }\${words[index]}"
  done
  next="$(_formsvc_next "$typed \${words[CURRENT-1]}")"
  if [[ -n "$next" ]]; then
    compadd -- \${=next}
    return
  fi
  if [[ "\${words[CURRENT]}" == -* ]] || ! _formsvc_takes_file "$typed"; then
    next="$(_formsvc_next "$typed")"
    [[ -z "$next" ]] && next="$(_formsvc_next "\${typed%% *}")"
    compadd -- \${=next}
  fi
  _files
}
compdef _formsvc formsvc`;
}

function fishScript(words: WordsAfter): string {
  const lines = [...words].map(
    ([path, next]) => `complete -c formsvc -n 'test "$(__formsvc_path)" = "${path}"' -a '${next.join(" ")}'`,
  );
  const withChoices = [...words.keys()]
    .flatMap((path) => (path.includes(" --") ? [`'${path}'`] : []))
    .join(" ");
  return `# formsvc completion for fish
function __formsvc_path
  set -l path
  for token in (commandline -opc)[2..]
    string match -q -- '-*' $token; and break
    set -a path $token
    test (count $path) -ge 2; and break
  end
  set -l chosen "$path "(commandline -opc)[-1]
  if contains -- "$chosen" ${withChoices}
    echo $chosen
  else
    string join ' ' -- $path
  end
end
${lines.join("\n")}`;
}
