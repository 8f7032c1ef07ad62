// Structured logs to stderr: JSON for machines, one readable line for people on a terminal. Secrets that slip
// into a log object are blanked by name.
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import type { Config } from './config.ts'
import { blankSecrets, secretSerializers } from './log/blank-secrets.ts'
import { prettyLine } from './log/pretty-line.ts'

export type Log = Logger

export interface LogTarget {
  readonly isTTY?: boolean | undefined
  write(text: string): unknown
}

/** Without a target, lines go to stderr and are flushed when the process ends. */
export function createLog(config: Pick<Config, 'log' | 'instanceId'>, target?: LogTarget): Log {
  const options = {
    level: config.log.level,
    base: config.instanceId === 'auto' ? null : { instance: config.instanceId },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: blankSecrets },
    serializers: secretSerializers,
    messageKey: 'message',
    errorKey: 'error',
  }
  return pino(options, destinationFor(config.log.format, target))
}

function destinationFor(format: Config['log']['format'], target?: LogTarget): DestinationStream {
  const out = target ?? process.stderr
  const pretty = format === 'pretty' || (format === 'auto' && out.isTTY === true)
  if (pretty) return { write: (line) => void out.write(prettyLine(line, { colour: out.isTTY === true })) }
  if (target) return { write: (line) => void target.write(line) }
  // Not synchronous: a line per request would otherwise cost a system call on the path of every reply.
  return pino.destination({ dest: 2, sync: false })
}
