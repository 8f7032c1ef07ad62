// What a model is told about AsyncGate when it connects, before it has called anything.
import { type ToolNames, toolName } from './names.ts'

export function instructions(names: ToolNames): string {
  const open = toolName('openObligations', names)
  const create = toolName('createTask', names)
  const get = toolName('getTask', names)
  const claim = toolName('leaseNext', names)
  return [
    'AsyncGate takes over long work, so that you can forget about it and later prove what became of it.',
    `Start every session with ${open}: it lists what is still owed to you, proved by the ledger.`,
    `Hand work off with ${create} (give an idempotency_key, so that repeating is safe) and move on; do not poll in a loop.`,
    `Fetch a result with ${get}, now with wait_seconds or in a later session: nothing is lost in between.`,
    `If you are a worker: ${claim}, renew the lease while you work, then complete, fail or release.`,
    'When a call fails, its message says the fix, and retryable says whether repeating it can help.',
  ].join('\n')
}
