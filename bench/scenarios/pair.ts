// A producer and a worker on fresh ground: what most scenarios measure with. Each has a process of its own.
import { chooseOnPostgres, type Entrant } from '../contenders/entrants.ts'
import type { Stage } from '../contenders/stages.ts'
import { type Player, startPlayer } from '../lab/player.ts'
import type { Database } from '../lab/postgres.ts'
import type { QueueActs } from '../players/queue-player.ts'
import type { Bench, Figures, Row } from '../scenario.ts'

export interface Pair {
  readonly producer: Player<QueueActs>
  readonly worker: Player<QueueActs>
  readonly stage: Stage
  /** How many tasks the warm-up made and finished; numbers go on from here. */
  readonly from: number
}

/** Callers who create one task at a time. */
export const CALLERS = 32
export const BATCH_SIZE = 1_000
/** Two, so that one batch is on its way while another is being written. */
export const BATCH_CALLERS = 2

/**
 * Tasks that go from end to end before throughput is measured. A server runs for weeks: with a tenth of that, V8 was still
 * compiling ours while it was measured, which took a fifth of its processor time.
 */
export const WARM_UP_COUNT = 20_000

export interface PairOptions {
  /** How many tasks go from end to end before anything is measured. */
  readonly warmUpCount: number
  /** How many must be unfinished at the end, by the queue's own count. */
  readonly unfinished?: number
}

/** A pair whose database can be looked into. */
export interface PostgresPair extends Pair {
  readonly database: Database
  readonly bench: Bench
  readonly label: string
}

/** A scenario's rows for what PostgreSQL alone can tell. */
export function onPostgres(
  options: PairOptions,
  play: (pair: PostgresPair) => Promise<Figures>,
): (bench: Bench) => Promise<readonly Row[]> {
  return async (bench) =>
    (await chooseOnPostgres(bench)).map((entrant) => ({
      label: entrant.label,
      measure: () =>
        withPair(bench, entrant, options, (pair) => {
          const { database } = pair.stage
          if (database === undefined) throw new Error('it does not run on PostgreSQL')
          return play({ ...pair, database, bench, label: entrant.label })
        }),
    }))
}

export async function withPair(
  bench: Bench,
  entrant: Entrant,
  { warmUpCount, unfinished = 0 }: PairOptions,
  play: (pair: Pair) => Promise<Figures>,
): Promise<Figures> {
  const stage = await entrant.setStage()
  const producer = startPlayer<QueueActs>(bench.lab, 'queue-player')
  const worker = startPlayer<QueueActs>(bench.lab, 'queue-player')
  try {
    const [first] = stage.targets
    await producer.ask('open', { contender: entrant.name, target: first })
    // With several instances they do not share one: what was created on one is handled on another.
    await worker.ask('open', { contender: entrant.name, target: stage.targets.at(-1) ?? first })
    await warmUp({ producer, worker, count: warmUpCount })
    const figures = await play({ producer, worker, stage, from: warmUpCount })
    await verify(producer, unfinished)
    await worker.ask('close')
    await producer.ask('close')
    return figures
  } finally {
    await worker.stop()
    await producer.stop()
    await stage.close()
  }
}

async function warmUp({
  producer,
  worker,
  count,
}: Pick<Pair, 'producer' | 'worker'> & { count: number }): Promise<void> {
  await worker.ask('consume', { from: 0, expected: count, style: 'throughput' })
  const half = Math.ceil(count / 2)
  await producer.ask('addSingly', { from: 0, count: half, callers: CALLERS })
  await producer.ask('addInBatches', { from: half, count: count - half, callers: 1, batchSize: BATCH_SIZE })
  await worker.ask('consumed')
}

/** Some complete after the handler returned, a little later. */
const VERIFY_MS_MAX = 5_000

async function verify(player: Player<QueueActs>, expected: number): Promise<void> {
  const until = performance.now() + VERIFY_MS_MAX
  for (;;) {
    const count = await player.ask('unfinished')
    if (count === expected) return
    if (performance.now() > until) {
      throw new Error(`the queue says that ${count} tasks are unfinished; it should be ${expected}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
