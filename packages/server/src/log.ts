// Structured logs to stderr: JSON for machines, one readable line for people on a terminal. Secrets that slip
// into a log object are blanked by name.
import { type DestinationStream, type LogFn, type Logger, pino } from 'pino'
import { iso, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { blankSecrets, secretSerializers } from './log/blank-secrets.ts'
import { flatMembers } from './log/flat-members.ts'
import { prettyLine } from './log/pretty-line.ts'

export type Log = Logger

export interface LogTarget {
  readonly isTTY?: boolean | undefined
  write(text: string): unknown
}

/** Without a target, lines go to stderr and are flushed when the process ends. */
export function createLog(config: Pick<Config, 'log' | 'instanceId'>, target?: LogTarget): Log {
  const base = config.instanceId === 'auto' ? {} : { instance: config.instanceId }
  const destination = destinationFor(config.log.format, target)
  const log: Log = pino(
    {
      level: config.log.level,
      base,
      timestamp: () => `,"time":"${iso(systemClock.now())}"`,
      formatters: { level: (label: string) => ({ level: label }), log: blankSecrets },
      serializers: secretSerializers,
      messageKey: 'message',
      errorKey: 'error',
      hooks: { logMethod },
    },
    destination,
  )
  const baseText = flatMembers(base)

  /**
   * Plain fields with a message, such as the line of every call, are written as pino would write them, in 0.9 µs where it
   * takes 5: it looks at each character of each name and value by itself.
   */
  function logMethod(this: Log, args: Parameters<LogFn>, method: LogFn, level: number): void {
    const [fields, message, ...values] = args as unknown[]
    const text =
      this === log && typeof message === 'string' && values.length === 0 ? flatMembers(fields) : null
    if (text === null) {
      method.apply(this, args)
      return
    }
    const head = `{"level":"${log.levels.labels[level]}","time":"${iso(systemClock.now())}"`
    destination.write(`${head}${baseText}${text},"message":${JSON.stringify(message)}}\n`)
  }

  return log
}

function destinationFor(format: Config['log']['format'], target?: LogTarget): DestinationStream {
  const out = target ?? process.stderr
  const pretty = format === 'pretty' || (format === 'auto' && out.isTTY === true)
  if (pretty) return { write: (line) => void out.write(prettyLine(line, { colour: out.isTTY === true })) }
  if (target) return { write: (line) => void target.write(line) }
  // Not synchronous: a line per request would otherwise cost a system call on the path of every reply.
  return pino.destination({ dest: 2, sync: false })
}
