// Where claims begin to look. A task that is taken leaves its entry in the index of what is ready, and until PostgreSQL removes
// it, every claim steps over it: for as long as anybody's transaction could still see the row. Over 60,000
// tasks beside a reader, a claim took 5.6 ms on average, and 1.9 so: it steps over what was taken in the last two seconds.
//
// Ready tasks that are not `out_of_turn` are added behind all others of their priority but for a moment, by the clock of the
// database. So what a claim has found to be gone in this stretch stays gone, and later claims begin behind it. How much that
// is, this process remembers for itself; it is never wrong about it, unless a commit took longer than that moment. Against that,
// the whole is looked at from time to time.

/** How far behind the clock of the database a task may be created to be in its turn. */
export const LATE_MS = 500
/** From then on everything is there that was created in its turn; what was not late had this much less for its commit. */
const SETTLED_MS = 2_000
/** Looks at the whole are this far apart, and take at most a hundredth of the time, unless they take very long. */
const WHOLE_MS_MIN = 1_000
const WHOLE_MS_MAX = 30_000
const WHOLE_SHARE = 100
/** Answers may come in another order than their looks; a clock that goes back by more was set. */
const ANSWERS_APART_MS_MAX = 1_000

/** Whoever uses more priorities than this steps over what was taken. */
const PRIORITIES_MAX = 16
const QUEUES_MAX = 10_000

const NIL = '00000000-0000-0000-0000-000000000000'
const [PRIORITY_MIN, PRIORITY_MAX] = [-2_147_483_648, 2_147_483_647]

/** A stretch of the index: from a task of one priority to the end of another. Priorities are negated, as in the index. */
export interface Stretch {
  readonly fromPriority: number
  readonly fromId: string
  readonly toPriority: number
}

export const WHOLE: readonly Stretch[] = [
  { fromPriority: PRIORITY_MIN, fromId: NIL, toPriority: PRIORITY_MAX },
]

/** What a claim saw of the tasks in their turn, by the clock of the database. */
export interface Sight {
  readonly stretches: readonly Stretch[]
  readonly first: { readonly negPriority: number; readonly taskId: string } | null
  readonly negPriorities: Iterable<number>
  readonly lookedAt: number
  readonly tookMs: number
}

export interface Floors {
  /** In order, and all that may hold anything. Who is given the whole has been given it alone for a while. */
  stretchesOf(queue: string): readonly Stretch[]
  /** Whether the next to ask is given the whole. */
  isWholeDue(queue: string): boolean
  saw(queue: string, sight: Sight): void
}

interface Queue {
  /** By priority: before this id, nothing is left. */
  readonly floors: Map<number, string>
  lookedAt: number
  wholeAt: number
}

export function createFloors(): Floors {
  const queues = new Map<string, Queue>()

  return {
    stretchesOf: (name) => {
      const queue = queues.get(name)
      if (queue === undefined) return WHOLE
      if (!isDue(queue)) return between(queue.floors)
      queue.wholeAt = queue.lookedAt + WHOLE_MS_MIN // it may take long: the others go on meanwhile
      return WHOLE
    },
    isWholeDue: (name) => {
      const queue = queues.get(name)
      return queue === undefined || isDue(queue)
    },
    saw: (name, sight) => {
      let queue = queues.get(name)
      if (queue === undefined) {
        if (queues.size >= QUEUES_MAX) queues.clear()
        queues.set(name, (queue = { floors: new Map(), lookedAt: 0, wholeAt: 0 }))
      }
      if (sight.lookedAt < queue.lookedAt - ANSWERS_APART_MS_MAX) {
        queues.delete(name)
        return
      }
      queue.lookedAt = Math.max(queue.lookedAt, sight.lookedAt)
      if (sight.stretches === WHOLE) {
        const restMs = Math.max(WHOLE_MS_MIN, sight.tookMs * WHOLE_SHARE)
        queue.wholeAt = sight.lookedAt + Math.min(restMs, WHOLE_MS_MAX)
      }
      raise(queue.floors, sight)
    },
  }
}

function isDue({ lookedAt, wholeAt }: Queue): boolean {
  return lookedAt >= wholeAt
}

/** Everything before the first that is there is gone, as far as it has settled. */
function raise(floors: Map<number, string>, { first, negPriorities, lookedAt }: Sight): void {
  const settled = firstIdAt(lookedAt - SETTLED_MS)
  for (const negPriority of negPriorities) if (!floors.has(negPriority)) floors.set(negPriority, NIL)
  if (floors.size > PRIORITIES_MAX) floors.clear()
  for (const [negPriority, floor] of floors) {
    if (first !== null && negPriority > first.negPriority) continue
    const isThere = first !== null && negPriority === first.negPriority && first.taskId < settled
    const reached = isThere ? first.taskId : settled
    if (reached > floor) floors.set(negPriority, reached)
  }
}

function between(floors: ReadonlyMap<number, string>): readonly Stretch[] {
  const known = [...floors].toSorted(([a], [b]) => a - b)
  const starts = [{ fromPriority: PRIORITY_MIN, fromId: NIL }, ...known.map(startOf)]
  return starts.map((start, index) => ({ ...start, toPriority: lastBefore(known[index]) }))
}

function lastBefore(next: readonly [number, string] | undefined): number {
  return next === undefined ? PRIORITY_MAX : next[0] - 1
}

function startOf([fromPriority, fromId]: readonly [number, string]) {
  return { fromPriority, fromId }
}

function firstIdAt(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}
