// From arguments to an exit code: find the command, parse, run, and say what went wrong.
import { GateError } from '@asyncgate/sdk'
import { didYouMean } from '../config/nearest.ts'
import { clientSettings, unknownVariables } from '../config.ts'
import type { Command, ExitCode } from './command.ts'
import { commands } from './commands.ts'
import { explainFailure, UsageError } from './failure.ts'
import { commandHelp, family, overview } from './help.ts'
import { parseArguments } from './parse.ts'
import { hasColour, type Terminal } from './terminal.ts'
import { painter } from './text.ts'
import { VERSION } from '../version.ts'

export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { command, rest, named } = findCommand(args)
  try {
    if (!command) return await answerWithoutCommand(rest, named, terminal)
    const parsed = parseArguments(command, rest)
    if (parsed.help) {
      terminal.out.write(`${commandHelp(command, layoutOf(terminal))}\n`)
      return 0
    }
    if (!command.configured) warnOfVariables(terminal)
    return await command.run({ ...parsed, terminal })
  } catch (error) {
    return fail(error, { args: rest, command, terminal })
  }
}

interface Found {
  readonly command: Command | undefined
  /** The words before the first option, when they name no command. */
  readonly named: readonly string[]
  readonly rest: readonly string[]
}

function findCommand(args: readonly string[]): Found {
  const words = args[0] === 'help' ? args.slice(1) : args
  const help = args[0] === 'help' ? ['--help'] : []
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ')
    const command = commands.find((candidate) => candidate.name === name)
    if (command) return { command, named: [], rest: [...words.slice(length), ...help] }
  }
  const firstOption = words.findIndex((word) => word.startsWith('-'))
  const named = firstOption < 0 ? words : words.slice(0, firstOption)
  return { command: undefined, named, rest: [...words.slice(named.length), ...help] }
}

/** `asyncgate`, `asyncgate --help`, `asyncgate task`, `asyncgate tsak create`. */
async function answerWithoutCommand(
  options: readonly string[],
  named: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const layout = layoutOf(terminal)
  const asksHelp = options.some((option) => option === '--help' || option === '-h')
  if (named.length === 0) {
    if (options.includes('--version') || options.includes('-v')) {
      terminal.out.write(`${VERSION}\n`)
      return 0
    }
    const [unknown] = options
    if (unknown !== undefined && !asksHelp) throw new UsageError(`Name a command before ${unknown}.`)
    const screen = asksHelp ? terminal.out : terminal.err
    screen.write(`${overview(commands, layout)}\n`)
    return asksHelp ? 0 : 2
  }
  const relatives = commands.filter(({ name }) => name.startsWith(`${named[0]} `))
  if (relatives.length > 0 && (named.length === 1 || asksHelp)) {
    const screen = asksHelp ? terminal.out : terminal.err
    screen.write(`${family(relatives, layout)}\n`)
    return asksHelp ? 0 : 2
  }
  const said = named.slice(0, 2).join(' ')
  const names = commands.map(({ name }) => name)
  const families = names.map((name) => name.split(' ')[0]!)
  const hint = didYouMean(said, names) || didYouMean(named[0]!, [...names, ...families])
  throw new UsageError(`There is no command "${said}".${hint}`)
}

/** A server does not start with such a variable; a call goes on without it, perhaps to the wrong server. */
function warnOfVariables({ err, env }: Terminal): void {
  for (const { where, message } of unknownVariables(env)) err.write(`warning: ${where}: ${message}\n`)
}

interface FailedCall {
  readonly args: readonly string[]
  readonly command: Command | undefined
  readonly terminal: Terminal
}

function fail(error: unknown, { args, command, terminal }: FailedCall): ExitCode {
  const { out, err, env } = terminal
  const failure = explainFailure(error, { url: clientSettings({ url: urlIn(args) }, env).url })
  if (error instanceof GateError && args.includes('--json')) {
    out.write(`${JSON.stringify(error.body())}\n`)
    if (failure.next) err.write(`${failure.next}\n`)
    return failure.exitCode
  }
  const paint = painter(hasColour(err, env))
  err.write(`${paint('red', 'error:')} ${failure.message}\n`)
  if (failure.next) err.write(`${failure.next}\n`)
  if (failure.exitCode === 2) err.write(`See "asyncgate ${command ? `${command.name} ` : ''}--help".\n`)
  return failure.exitCode
}

/** For the message alone, which comes too late to have parsed values. */
function urlIn(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === '--url' || arg.startsWith('--url='))
  if (at < 0) return undefined
  return args[at] === '--url' ? args[at + 1] : args[at]!.slice('--url='.length)
}

function layoutOf({ out, env }: Terminal) {
  return { columns: out.columns, paint: painter(hasColour(out, env)) }
}
