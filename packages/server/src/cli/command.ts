// What a command is: data from which parsing, --help and the reference page come, and one function to run.
import type { Flags } from '../config/flags.ts'
import type { Terminal } from './terminal.ts'

export interface Option {
  readonly kind: 'text' | 'whole' | 'switch' | 'list' | 'json'
  readonly about: string
  /** Stands for the value in help, e.g. `<file>`. */
  readonly shows?: string
  readonly choices?: readonly string[]
  readonly required?: true
  readonly short?: string
}

/** By flag name, without the dashes. */
export type Options = Readonly<Record<string, Option>>

type ValueOf<O extends Option> = {
  text: string
  whole: number
  switch: boolean
  list: string[]
  json: unknown
}[O['kind']]

export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends { required: true } ? ValueOf<O[K]> : ValueOf<O[K]> | undefined
}

export interface Positional {
  readonly name: string
  readonly about: string
}

export type CommandGroup = 'run' | 'tasks' | 'schedules' | 'inspect' | 'types' | 'access'

export const GROUPS: Readonly<Record<CommandGroup, string>> = {
  run: 'Run',
  tasks: 'Work with tasks',
  schedules: 'Work with schedules',
  inspect: 'Inspect',
  types: 'Register task types',
  access: 'Give and take access',
}

/** 0 done, 1 refused or failed, 2 called wrongly. */
export type ExitCode = 0 | 1 | 2

export interface Call<O extends Options> {
  readonly values: Values<O>
  /** Fields of the operation, as `fields` of the command lists them, under their names on the wire. */
  readonly input: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
  /** Configuration flags, for commands that are `configured`. */
  readonly settings: Flags
  readonly terminal: Terminal
}

export interface Command<O extends Options = Options> {
  /** One or two words: `dev`, `task create`. */
  readonly name: string
  readonly group: CommandGroup
  readonly summary: string
  /** A paragraph below the summary in its --help. */
  readonly details?: string
  readonly positionals?: readonly Positional[]
  readonly options: O
  /** Options that are fields of the operation that the command calls; made when they are needed, to start quickly. */
  readonly fields?: () => Options
  /** Reads the server's configuration: every key of it is a flag too. */
  readonly configured?: true
  readonly examples: readonly { readonly line: string; readonly about: string }[]
  run(call: Call<O>): Promise<ExitCode>
}

/** Keeps the types of the options for `run`; the table of commands needs them no more. */
export function command<const O extends Options>(definition: Command<O>): Command {
  // `run` is declared as a method, whose parameters TypeScript compares both ways: parsing fills in values by the same
  // options, so what it is given has the types that it declares.
  return definition
}
