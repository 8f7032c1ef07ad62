// The reference worker: a few task types that are useful for a first try and for simple jobs, on nothing but the SDK.
import { createWorker, type Worker, type WorkerOptions } from '@asyncgate/sdk'
import type { Clock } from '../clock.ts'
import { type CommandParts, RunCommand, runCommand } from './command.ts'
import { echo } from './echo.ts'
import { HttpGet, httpGet } from './http-get.ts'
import { SleepThenReturn, sleepThenReturn } from './sleep-then-return.ts'
import type { ReferenceType } from './types.ts'

export interface ReferenceParts extends WorkerOptions {
  readonly types: readonly ReferenceType[]
  /** Needed for the type `command`. */
  readonly command?: CommandParts
  /** For sleeping; the worker's own `clock` is for tests. */
  readonly sleepClock: Clock
}

export function createReferenceWorker({ types, command, sleepClock, ...options }: ReferenceParts): Worker {
  const worker = createWorker(options)
  if (types.includes('echo')) worker.task('echo', echo)
  if (types.includes('sleep_then_return'))
    worker.task('sleep_then_return', sleepThenReturn(sleepClock), { schema: SleepThenReturn })
  if (types.includes('http_get')) worker.task('http_get', httpGet(), { schema: HttpGet })
  if (types.includes('command')) {
    if (!command) throw new Error('The type command needs its programs and its folder.')
    worker.task('command', runCommand(command), { schema: RunCommand })
  }
  return worker
}
