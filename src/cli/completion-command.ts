import type { Command } from "commander";
import { FormsvcError } from "../foundation/errors.ts";
import { addCommand } from "./command.ts";

export function register(program: Command): void {
  addCommand(program, {
    usage: "completion <shell>",
    summary: "Print a completion script for bash, zsh or fish",
    examples: [
      'eval "$(formsvc completion bash)"',
      "formsvc completion fish > ~/.config/fish/completions/formsvc.fish",
    ],
    action: (context, _options, [shell = ""]) => {
      const render = SHELLS[shell];
      if (render === undefined) {
        throw new FormsvcError(
          "usage",
          `there is no completion for ${shell}; there is for: ${Object.keys(SHELLS).join(", ")}`,
        );
      }
      const script = render(collectWords(program));
      if (context.output.isJson) context.output.json({ script });
      else context.output.line(script);
    },
  });
}

/** What may come next after the words typed so far: `""`, `"endpoint"`, `"endpoint create"`. */
type WordsAfter = ReadonlyMap<string, readonly string[]>;

const SHELLS: Readonly<Record<string, (words: WordsAfter) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

function collectWords(program: Command): WordsAfter {
  const words = new Map<string, string[]>();
  const visit = (command: Command, path: string): void => {
    const flags = command.options.map((option) => option.long ?? option.short ?? "").filter(Boolean);
    words.set(path, [...command.commands.map((below) => below.name()), ...flags, "--help"]);
    for (const below of command.commands)
      visit(below, path === "" ? below.name() : `${path} ${below.name()}`);
  };
  visit(program, "");
  return words;
}

/** Words are our own: letters, digits and hyphens, so nothing needs quoting beyond the quotes around them. */
function caseArms(words: WordsAfter, indent: string): string {
  return [...words].map(([path, next]) => `${indent}'${path}') words='${next.join(" ")}' ;;`).join("\n");
}

/** The path is the first two words that are no options; a command without verbs is found by its first word alone. */
function bashScript(words: WordsAfter): string {
  return `# formsvc completion for bash
_formsvc_next() {
  local words=""
  case "$1" in
${caseArms(words, "    ")}
  esac
  printf '%s' "$words"
}
_formsvc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" index
  for ((index = 1; index < COMP_CWORD && index <= 2; index++)); do
    [[ "\${COMP_WORDS[index]}" == -* ]] && break
    path="\${path:+$path }\${COMP_WORDS[index]}"
  done
  words="$(_formsvc_next "$path")"
  [[ -z "$words" ]] && words="$(_formsvc_next "\${path%% *}")"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [[ \${#COMPREPLY[@]} -eq 0 ]] && mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -F _formsvc formsvc`;
}

function zshScript(words: WordsAfter): string {
  return `#compdef formsvc
_formsvc_next() {
  local words=""
  case "$1" in
${caseArms(words, "    ")}
  esac
  print -r -- "$words"
}
_formsvc() {
  local typed="" next="" index
  for ((index = 2; index < CURRENT && index <= 3; index++)); do
    [[ "\${words[index]}" == -* ]] && break
    typed="\${typed:+$typed }\${words[index]}"
  done
  next="$(_formsvc_next "$typed")"
  [[ -z "$next" ]] && next="$(_formsvc_next "\${typed%% *}")"
  compadd -- \${=next}
  _files
}
compdef _formsvc formsvc`;
}

function fishScript(words: WordsAfter): string {
  const lines = [...words].map(
    ([path, next]) => `complete -c formsvc -n 'test "$(__formsvc_path)" = "${path}"' -a '${next.join(" ")}'`,
  );
  return `# formsvc completion for fish
function __formsvc_path
  set -l path
  for token in (commandline -opc)[2..]
    string match -q -- '-*' $token; and break
    set -a path $token
    test (count $path) -ge 2; and break
  end
  string join ' ' -- $path
end
${lines.join("\n")}`;
}
