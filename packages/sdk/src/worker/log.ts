// Where a worker's log lines go: JSON lines on stderr, unless it is given a log of its own.
import { systemClock } from './clock.ts'
import type { WorkerLog } from './events.ts'

export const consoleLog: WorkerLog = {
  debug: () => {},
  info: line('info'),
  warn: line('warn'),
  error: line('error'),
}

export const silentLog: WorkerLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function line(level: string) {
  return (fields: object, message: string) => {
    const time = new Date(systemClock.now()).toISOString()
    // console.error is stderr in Node, and there in every other runtime too.
    console.error(JSON.stringify({ level, time, ...fields, message }, errorsAsText))
  }
}

function errorsAsText(_name: string, value: unknown): unknown {
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value
}

/** Each line with these facts too. */
export function logWith(log: WorkerLog, facts: object): WorkerLog {
  const write = (level: keyof WorkerLog) => (fields: object, message: string) =>
    log[level]({ ...facts, ...fields }, message)
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
