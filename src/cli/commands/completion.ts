import type { Command } from "commander";
import { parseChoice } from "../flags/values.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

const EXAMPLES = `
Examples:
  source <(millrace completion bash)                      put it into ~/.bashrc
  source <(millrace completion zsh)                       put it into ~/.zshrc, behind compinit
  millrace completion fish > ~/.config/fish/completions/millrace.fish`;

export function addCompletionCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("completion")
    .description("print the completion script of a shell")
    .argument("<shell>", SHELLS.join(", "), parseChoice(SHELLS))
    .addHelpText("after", EXAMPLES)
    .action((shell: (typeof SHELLS)[number]) => {
      io.out.write(WRITERS[shell](readWords(program)));
      outcome.code = EXIT.success;
    });
}

/** The words that may follow a command. */
interface Words {
  /** The words before, such as `formats decode`; `""` for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly flags: readonly { readonly name: string; readonly about: string }[];
}

function readWords(command: Command, path = ""): Words[] {
  // The default command's flags may be written without its name.
  const own = path === "" ? [command, ...command.commands.filter((one) => one.name() === "run")] : [command];
  const flags = own.flatMap(({ options }) => options.filter((option) => !option.hidden));
  return [
    {
      path,
      commands: command.commands.map((one) => ({ name: one.name(), about: one.description() })),
      flags: [
        ...flags.flatMap(({ long, description }) =>
          long === undefined || long === null ? [] : [{ name: long, about: description }],
        ),
        { name: "--help", about: "how it is used" },
      ],
    },
    ...command.commands.flatMap((one) => readWords(one, `${path} ${one.name()}`.trim())),
  ];
}

const namesOf = ({ commands, flags }: Words): string => [...commands, ...flags].map(({ name }) => name).join(" ");

/** A word in single quotes, for any of the three shells. */
const quote = (text: string): string => `'${text.replaceAll("\\", "").replaceAll("'", "’")}'`;

const WRITERS: Readonly<Record<(typeof SHELLS)[number], (words: readonly Words[]) => string>> = {
  bash: (words) => `# millrace completion for bash
_millrace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case " ${pathsOf(words)} " in *" \${path:+\${path}/}$word "*) path="\${path:+\${path}/}$word" ;; esac ;; esac
  done
  case "$path" in
${words.map((one) => `    ${quote(one.path.replaceAll(" ", "/"))}) COMPREPLY=($(compgen -W ${quote(namesOf(one))} -- "$current")) ;;`).join("\n")}
  esac
  [ "\${#COMPREPLY[@]}" -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _millrace millrace
`,
  zsh: (words) => `#compdef millrace
# millrace completion for zsh
_millrace() {
  local place="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) case " ${pathsOf(words)} " in *" \${place:+$place/}$word "*) place="\${place:+$place/}$word" ;; esac ;; esac
  done
  case "$place" in
${words.map((one) => `    ${quote(one.path.replaceAll(" ", "/"))}) compadd -- ${namesOf(one)} ;;`).join("\n")}
  esac
  _files
}
compdef _millrace millrace
`,
  fish: (words) => `# millrace completion for fish
${words.flatMap((one) => fishLines(one)).join("\n")}
`,
};

function pathsOf(words: readonly Words[]): string {
  return words
    .map(({ path }) => path.replaceAll(" ", "/"))
    .filter((path) => path !== "")
    .join(" ");
}

function fishLines({ path, commands, flags }: Words): string[] {
  const where = path === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${path.split(" ").at(-1)}`;
  return [
    ...commands.map(({ name, about }) => `complete -c millrace -n ${quote(where)} -a ${name} -d ${quote(about)}`),
    ...flags.map(({ name, about }) => `complete -c millrace -n ${quote(where)} -l ${name.slice(2)} -d ${quote(about)}`),
  ];
}
