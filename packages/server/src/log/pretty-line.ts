// One JSON log line as a person wants to read it: time, level, message, then what else it carries.
import { styleText } from 'node:util'

const LEVELS = {
  trace: ['gray', 'trace'],
  debug: ['gray', 'debug'],
  info: ['green', 'info '],
  warn: ['yellow', 'warn '],
  error: ['red', 'error'],
  fatal: ['red', 'fatal'],
} as const

/** What log.ts makes pino write: every line has these, and whatever else was logged. */
interface LogLine {
  readonly level: string
  readonly time: string
  readonly message?: string
  readonly error?: unknown
  readonly [fact: string]: unknown
}

export function prettyLine(line: string, { colour }: { colour: boolean }): string {
  const { level, time, message = '', error, ...rest } = JSON.parse(line) as LogLine
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colour ? styleText(style, text, { validateStream: false }) : text
  const [style, label] = LEVELS[level as keyof typeof LEVELS] ?? ['white', level]
  const clock = time.slice(11, 23)
  const facts = Object.entries(rest).map(([name, value]) => paint('dim', `${name}=${factText(value)}`))
  const text = [paint('dim', clock), paint(style, label), message, ...facts].join(' ')
  return `${text}${errorText(error)}\n`
}

function factText(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
  return JSON.stringify(value)
}

/** An error's stack names its message too; below the line, since it is many lines itself. */
function errorText(error: unknown): string {
  if (error === undefined || error === null) return ''
  const { stack } = error as { stack?: unknown }
  const text = typeof stack === 'string' ? stack : JSON.stringify(error)
  return `\n  ${text.replaceAll('\n', '\n  ')}`
}
