// The page docs/reference/cli.md, made from the table of commands.
import { type Command, GROUPS } from './command.ts'
import { commands } from './commands.ts'
import { optionRows, usage } from './help.ts'

const INTRODUCTION = `# Command line

<!-- Generated from packages/server/src/cli/commands.ts by "npm run generate". Do not edit. -->

\`asyncgate <command> --help\` shows what stands here. From a checkout the command is \`npx asyncgate\`.

Commands that call a server find it by \`--url\`, else \`ASYNCGATE_URL\`, else \`http://127.0.0.1:8420\`, and send the key in
\`ASYNCGATE_API_KEY\`. Commands that run on the configuration take every setting of it as a flag, see
[configuration](configuration.md).

Exit codes: 0 done, 1 refused or failed, 2 called wrongly. \`--json\` prints the exact reply, and the error body where there
is one. Colours are for terminals only and go away with \`NO_COLOR\`.
`

export function cliReference(): string {
  const groups = Object.entries(GROUPS).map(([group, title]) => {
    const members = commands.filter((command) => command.group === group)
    return [`## ${title}\n`, ...members.map(sectionOf)].join('\n')
  })
  return [INTRODUCTION, ...groups].join('\n')
}

function sectionOf(command: Command): string {
  const { name, summary, details, positionals = [], fields, options, configured, examples } = command
  const rows = [
    ...positionals.map((positional) => [`<${positional.name}>`, positional.about] as const),
    ...optionRows({ ...fields?.(), ...options }),
  ].map(([left, right]) => `| \`${left.replaceAll('|', '\\|')}\` | ${cell(right)} |`)
  const lines = examples.map(({ line, about }) => `# ${about}\n${line}`)
  const parts = [
    `### ${name}\n`,
    [summary, details].filter(Boolean).join(' '),
    `\n\`${usage(command)}\`\n`,
    `| option | |\n|---|---|\n${rows.join('\n')}\n`,
    configured ? 'Every [setting](configuration.md) is also a flag.\n' : '',
    `\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`,
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
