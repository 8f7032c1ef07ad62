// What was asked for never changes. Whoever holds a task will report on it, most likely to the process that granted it: so
// its definition is remembered until then, and the report reads the narrow row of its lease alone.
import { surelyFits } from '../../engine/ledger.ts'
import { isTerminal, type Task, type TaskDefinition } from '../../engine/model.ts'
import type { Changes } from '../../engine/unit.ts'
import { definitionFromRow } from './definition-row.ts'
import type { Session } from './session.ts'
import { readDefinitions } from './statements/tasks.ts'

/** Beyond this the oldest are forgotten: reading one again costs a little, a map that only grows costs memory. */
const REMEMBERED_MAX = 10_000
/** What has a larger payload is read again. */
const BYTES_MAX = 8_192

export interface Definitions {
  /** Those of these tasks that there are. */
  of(
    session: Session,
    tenantId: string,
    taskIds: readonly string[],
  ): Promise<ReadonlyMap<string, TaskDefinition>>
  /** To be called once the transaction that made these changes has been committed. */
  committed(tenantId: string, changes: Changes): void
}

export function createDefinitions(): Definitions {
  const held = new Map<string, { readonly tenantId: string; readonly definition: TaskDefinition }>()

  function note(tenantId: string, { definition, state }: Task): void {
    const { taskId } = definition
    if (state.status === 'queued' || isTerminal(state.status)) {
      held.delete(taskId)
    } else if (!held.has(taskId) && isSmall(definition)) {
      if (held.size === REMEMBERED_MAX) held.delete(held.keys().next().value!)
      held.set(taskId, { tenantId, definition })
    }
  }

  return {
    of: async (session, tenantId, taskIds) => {
      const found = new Map<string, TaskDefinition>()
      const others: string[] = []
      for (const taskId of taskIds) {
        const known = held.get(taskId)
        if (known?.tenantId === tenantId) found.set(taskId, known.definition)
        else others.push(taskId)
      }
      for (const row of await readDefinitions(session, tenantId, others))
        found.set(row.task_id, definitionFromRow(row))
      return found
    },
    committed: (tenantId, { createdTasks, changedTasks }) => {
      for (const task of createdTasks) note(tenantId, task)
      for (const { after } of changedTasks) note(tenantId, after)
    },
  }
}

/** The contract keeps the rest of it small. */
function isSmall({ payload, metadata }: TaskDefinition): boolean {
  return surelyFits(payload, BYTES_MAX) && surelyFits(metadata, BYTES_MAX)
}
