// --help, made from the table of commands: it should teach, not only list.
import { type Command, GROUPS, type Options } from './command.ts'
import { placeholder } from './parse.ts'
import { type Paint, wrap } from './text.ts'

export interface HelpLayout {
  readonly columns: number
  readonly paint: Paint
}

/** Text wider than this is hard to read, however wide the terminal. */
const WIDTH_MAX = 110

const INTRODUCTION = 'AsyncGate: hand off long work, forget about it, and later prove what became of it.'

const FIRST_STEPS = [
  ['asyncgate dev', 'start a server on this machine'],
  [`asyncgate task create --type echo --payload '{"hello":"world"}'`, 'hand off work'],
  ['asyncgate obligations', 'what is still open?'],
] as const

export function overview(commands: readonly Command[], layout: HelpLayout): string {
  const { paint } = layout
  const nameWidth = Math.max(...commands.map(({ name }) => name.length))
  const groups = Object.entries(GROUPS).map(([group, title]) => {
    const lines = commands
      .filter((command) => command.group === group)
      .map(({ name, summary }) => row(paint('bold', name.padEnd(nameWidth)), nameWidth, summary, layout))
    return `${heading(title, paint)}\n${lines.join('\n')}`
  })
  const stepWidth = Math.max(...FIRST_STEPS.map(([line]) => line.length))
  const steps = FIRST_STEPS.map(
    ([line, about]) => `  ${line.padEnd(stepWidth)}  ${paint('dim', `# ${about}`)}`,
  )
  return [
    INTRODUCTION,
    `${heading('Usage', paint)}\n  asyncgate <command> [options]`,
    ...groups,
    `${heading('First steps', paint)}\n${steps.join('\n')}`,
    '"asyncgate <command> --help" shows the options and examples of one command.',
  ].join('\n\n')
}

/** The commands that begin with one word: `asyncgate task`. */
export function family(commands: readonly Command[], layout: HelpLayout): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) =>
    row(layout.paint('bold', name.padEnd(width)), width, summary, layout),
  )
  return `${heading('Commands', layout.paint)}\n${lines.join('\n')}\n\n"asyncgate <command> --help" shows one of them.`
}

export function commandHelp(command: Command, layout: HelpLayout): string {
  const { paint } = layout
  const width = Math.min(layout.columns, WIDTH_MAX)
  const sections = [wrap(command.summary, { width }), `${heading('Usage', paint)}\n  ${usage(command)}`]
  if (command.details) sections.splice(1, 0, wrap(command.details, { width }))
  const positionals = (command.positionals ?? []).map(({ name, about }) => [`<${name}>`, about] as const)
  if (positionals.length > 0) sections.push(`${heading('Arguments', paint)}\n${rows(positionals, layout)}`)
  const options = { ...command.fields?.(), ...command.options, help: HELP_OPTION }
  sections.push(`${heading('Options', paint)}\n${rows(optionRows(options), layout)}`)
  if (command.configured) sections.push(wrap(CONFIGURED, { width }))
  const examples = command.examples.map(({ line, about }) => `  ${paint('dim', `# ${about}`)}\n  ${line}`)
  sections.push(`${heading('Examples', paint)}\n${examples.join('\n')}`)
  return sections.join('\n\n')
}

const HELP_OPTION = { kind: 'switch', about: 'Show this.', short: 'h' } as const

const CONFIGURED =
  'Every setting is also a flag and a variable, e.g. --lease-sweep-interval-seconds 5 or ' +
  'ASYNCGATE_LEASE_SWEEP_INTERVAL_SECONDS=5. "asyncgate config" lists them all.'

export function usage({ name, positionals = [], options, fields }: Command): string {
  const required = Object.entries({ ...fields?.(), ...options }).filter(([, option]) => option.required)
  const words = [
    'asyncgate',
    name,
    ...positionals.map((positional) => `<${positional.name}>`),
    ...required.map(([flag, option]) => `--${flag} ${placeholder(option)}`),
    '[options]',
  ]
  return words.join(' ')
}

/** Required ones first, then as the command lists them. */
export function optionRows(options: Options): (readonly [string, string])[] {
  const entries = Object.entries(options)
  entries.sort(([, a], [, b]) => Number(b.required ?? false) - Number(a.required ?? false))
  return entries.map(([flag, option]) => {
    const short = option.short ? `-${option.short}, ` : ''
    const note = option.required ? ' Required.' : ''
    return [`${short}--${flag} ${placeholder(option)}`.trim(), `${option.about}${note}`.trim()]
  })
}

function rows(pairs: readonly (readonly [string, string])[], layout: HelpLayout): string {
  const width = Math.min(36, Math.max(...pairs.map(([left]) => left.length)))
  return pairs
    .map(([left, right]) => row(left.padEnd(width), Math.max(width, left.length), right, layout))
    .join('\n')
}

/** `leftWidth` apart from `left`, which may be painted. */
function row(left: string, leftWidth: number, right: string, { columns }: HelpLayout): string {
  const width = Math.max(30, Math.min(columns, WIDTH_MAX) - leftWidth - 4)
  return `  ${left}  ${wrap(right, { width, indent: ' '.repeat(leftWidth + 4) })}`
}

function heading(title: string, paint: Paint): string {
  return paint('bold', `${title}:`)
}
