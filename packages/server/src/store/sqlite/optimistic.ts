// A transaction whose statements are gathered here and written by the second connection. Meanwhile nothing is locked: what it
// finds is what is committed, and whatever it takes is compared again where it is taken (see `Bulk.expects`).
import type { Bulk, Columns, Query, RowOf, Transaction, Value } from '../sql/session.ts'
import type { Bound } from './connection.ts'
import { TAKE_QUEUED } from './queued.ts'
import type { SecondWriter } from './second-writer.ts'
import type { Writing } from './transaction.ts'

/** What the second connection is about to write. */
export interface Underway {
  /** Tasks that leave the queue. */
  readonly taken: Set<string>
  largeCommits: number
}

export interface WritingBeside extends Writing {
  readonly second: SecondWriter
  readonly underway: Underway
}

export async function beginOptimistic(writing: WritingBeside, isLarge: boolean): Promise<Transaction> {
  const { writer, turns, flusher, checkpoints, second, underway } = writing
  const statements: Bound[] = []
  const taking: string[] = []
  const endTurn = once(await turns.takeBeside())

  function gather(bound: Bound | null): boolean {
    if (bound !== null) statements.push(bound)
    return bound !== null
  }

  async function written(): Promise<void> {
    for (const taskId of taking) underway.taken.add(taskId)
    underway.largeCommits += isLarge ? 1 : 0
    try {
      await second.write(statements)
      checkpoints.committed()
    } finally {
      for (const taskId of taking) underway.taken.delete(taskId)
      underway.largeCommits -= isLarge ? 1 : 0
    }
  }

  return {
    isOptimistic: true,
    all: async <R>(query: Query, params: readonly Value[]) =>
      gather(writer.bindAll(query, params)) ? [] : writer.all<R>(query, params),
    each: async <R, C extends Columns>(bulk: Bulk<C>, tenantId: string, rows: readonly RowOf<C>[]) => {
      if (rows.length === 0) return []
      if (Object.is(bulk, TAKE_QUEUED)) taking.push(...rows.map((row) => String(row['task_id'])))
      return gather(writer.bindEach(bulk, tenantId, rows)) ? [] : writer.each<R, C>(bulk, tenantId, rows)
    },
    enter: async () => {},
    commit: async (decided) => {
      await decided
      flusher.requireWhole()
      if (statements.length > 0) {
        const ended = written()
        endTurn(ended)
        await ended
      }
      endTurn(Promise.resolve())
      await flusher.flushed()
    },
    rollback: async () => endTurn(Promise.resolve()),
  }
}

function once<T>(run: (value: T) => void): (value: T) => void {
  let isDone = false
  return (value) => {
    if (!isDone) run(value)
    isDone = true
  }
}
