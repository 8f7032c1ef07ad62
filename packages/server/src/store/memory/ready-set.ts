// The narrow set of what a claim may look at: sorted per lane and type, so that a claim touches only heads.
import type { ClaimFilter } from '../../engine/command.ts'
import { bestFirst, compare } from '../../engine/matching.ts'
import type { Task } from '../../engine/model.ts'
import type { Candidates } from '../../engine/unit.ts'

interface Entry {
  readonly priority: number
  readonly taskId: string
}

interface Lane {
  readonly capabilities: ReadonlySet<string>
  readonly byType: Map<string, Entry[]>
}

export interface ReadySet {
  add(task: Task): void
  remove(task: Task): void
  select(filter: ClaimFilter, count: number): Candidates
  size(): number
  oldest(): string | null
}

export function createReadySet(): ReadySet {
  const lanes = new Map<string, Lane>()

  function entriesOf({ definition }: Task): Entry[] {
    const { lane, type, capabilities } = definition
    let found = lanes.get(lane)
    if (found === undefined) {
      found = { capabilities: new Set(capabilities.map((name) => name.toLowerCase())), byType: new Map() }
      lanes.set(lane, found)
    }
    let entries = found.byType.get(type)
    if (entries === undefined) {
      entries = []
      found.byType.set(type, entries)
    }
    return entries
  }

  const all = () => [...lanes.values()].flatMap((lane) => [...lane.byType.values()])

  return {
    add: (task) => {
      const entry = { priority: task.definition.priority, taskId: task.definition.taskId }
      const entries = entriesOf(task)
      entries.splice(indexFor(entries, entry), 0, entry)
    },
    remove: (task) => {
      const entries = entriesOf(task)
      const { priority, taskId } = task.definition
      const index = indexFor(entries, { priority, taskId })
      if (entries[index]?.taskId === taskId) entries.splice(index, 1)
    },
    select: (filter, count) => {
      const worker = new Set(filter.capabilities)
      const open = [...lanes.values()].filter((lane) =>
        [...lane.capabilities].every((name) => worker.has(name)),
      )
      const heads = open.flatMap((lane) =>
        (filter.acceptTypes ?? [...lane.byType.keys()]).flatMap((type) =>
          (lane.byType.get(type) ?? []).slice(0, count).map((entry) => ({ ...entry, type })),
        ),
      )
      heads.sort(bestFirst(filter))
      const taskIds = heads.slice(0, count).map((head) => head.taskId)
      return { taskIds, more: heads.length >= count, held: false }
    },
    size: () => all().reduce((sum, entries) => sum + entries.length, 0),
    oldest: () =>
      all()
        .flatMap((entries) => entries.map((entry) => entry.taskId))
        .toSorted()[0] ?? null,
  }
}

/** Highest priority first, then oldest: where the entry is, or would be. */
function indexFor(entries: readonly Entry[], wanted: Entry): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = entries[middle]!
    const order = wanted.priority - entry.priority || compare(entry.taskId, wanted.taskId)
    if (order < 0) low = middle + 1
    else high = middle
  }
  return low
}
