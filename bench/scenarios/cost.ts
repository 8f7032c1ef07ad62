// Processor time for each task, of everybody who takes part: clients, server, database. Unlike throughput it hardly depends on
// what else the machine is doing, and it bounds throughput: two cores that are fully used do two seconds of it in a second.
import { processorSeconds } from '../lab/process-figures.ts'
import type { Column, Figures } from '../scenario.ts'
import type { Pair } from './pair.ts'

export const COST_COLUMNS: readonly Column[] = [
  { name: 'CPU', unit: 'µs/task', better: 'less' },
  { name: 'CPU of the database', unit: 'µs/task', better: 'less' },
]

/** Begins to count; the function that it gives ends it. */
export function countCost({ producer, worker, stage }: Pair): (tasks: number) => Figures {
  const database = stage.databasePid === undefined ? [] : [stage.databasePid]
  const pids = [
    producer.pid,
    worker.pid,
    ...(stage.serverPid === undefined ? [] : [stage.serverPid]),
    ...database,
  ]
  const secondsOf = (ids: readonly number[]) => ids.reduce((sum, pid) => sum + processorSeconds(pid), 0)
  const before = { all: secondsOf(pids), database: secondsOf(database) }
  return (tasks) => {
    const micros = (seconds: number) => (seconds * 1e6) / tasks
    return {
      CPU: micros(secondsOf(pids) - before.all),
      ...(database.length > 0
        ? { 'CPU of the database': micros(secondsOf(database) - before.database) }
        : {}),
    }
  }
}
