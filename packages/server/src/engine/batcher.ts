// Group commit: while one commit of a tenant is in flight, what arrives forms the next batch. No timer, no delay when
// idle, and nobody is answered before the commit that carries their command.
//
// Before a batch is cut, `gather` lets the event loop take in what has arrived already. Without it, a store that commits
// within one turn (SQLite) would never see two requests together: 230 against 479 creations/s, from 32 callers.
import { GateError } from '@asyncgate/sdk'
import type { Command } from './command.ts'
import type { Result } from './decide/index.ts'

/** Keeps one commit, and with it everybody's wait, short. */
const COMMANDS_PER_COMMIT_MAX = 1_000
/** Payloads and results of one commit travel in one parameter, which databases limit; memory is finite, too. */
const BYTES_PER_COMMIT_MAX = 16 * 1_048_576

interface Entry {
  readonly commands: readonly Command[]
  readonly resolve: (results: readonly Result[]) => void
  readonly reject: (reason: unknown) => void
}

export interface Batcher {
  /** The commands of one call go into one commit, in their order. */
  submit(tenantId: string, commands: readonly Command[]): Promise<readonly Result[]>
  /** Resolves when everything submitted so far has been answered. */
  idle(): Promise<void>
}

export type Run = (tenantId: string, commands: readonly Command[]) => Promise<readonly Result[]>

export function createBatcher(run: Run, gather?: () => Promise<void>): Batcher {
  const queues = new Map<string, Entry[]>()
  const draining = new Set<Promise<void>>()

  async function drain(tenantId: string, queue: Entry[]): Promise<void> {
    while (queue.length > 0) {
      if (gather !== undefined) await gather()
      await commit(tenantId, takeBatch(queue))
    }
    queues.delete(tenantId)
  }

  async function commit(tenantId: string, entries: readonly Entry[]): Promise<void> {
    try {
      const results = await run(
        tenantId,
        entries.flatMap((entry) => entry.commands),
      )
      let start = 0
      for (const { commands, resolve } of entries) resolve(results.slice(start, (start += commands.length)))
    } catch (error) {
      await explain(tenantId, entries, error)
    }
  }

  /** A GateError concerns the whole commit. Anything else is a defect that one command has met: the others go on. */
  async function explain(tenantId: string, entries: readonly Entry[], error: unknown): Promise<void> {
    if (entries.length > 1 && !(error instanceof GateError)) {
      for (const entry of entries) await commit(tenantId, [entry])
    } else {
      for (const { reject } of entries) reject(error)
    }
  }

  return {
    submit: (tenantId, commands) =>
      new Promise((resolve, reject) => {
        const entry = { commands, resolve, reject }
        const queue = queues.get(tenantId)
        if (queue !== undefined) {
          queue.push(entry)
          return
        }
        const fresh = [entry]
        queues.set(tenantId, fresh)
        const drained = drain(tenantId, fresh)
        draining.add(drained)
        // drain answers every entry itself and does not reject.
        void drained.then(() => draining.delete(drained))
      }),
    idle: async () => {
      while (draining.size > 0) await Promise.all(draining)
    },
  }
}

/** At least one entry; one call's commands are never split. */
function takeBatch(queue: Entry[]): Entry[] {
  let count = 0
  let bytes = 0
  let end = 0
  for (const { commands } of queue) {
    count += commands.length
    bytes += commands.reduce((sum, command) => sum + bytesOf(command), 0)
    if (end > 0 && (count > COMMANDS_PER_COMMIT_MAX || bytes > BYTES_PER_COMMIT_MAX)) break
    end += 1
  }
  return queue.splice(0, end)
}

function bytesOf(command: Command): number {
  return 'bytes' in command ? (command.bytes ?? 0) : 0
}
