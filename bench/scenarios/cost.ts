// Processor time for each task, of everybody who takes part: clients, server, database. Unlike throughput it hardly depends on
// what else the machine is doing, and it bounds throughput: two cores that are fully used do two seconds of it in a second.
import { processorSeconds } from '../lab/process-figures.ts'
import type { Column, Figures } from '../scenario.ts'
import type { Pair } from './pair.ts'

export const COST_COLUMNS: readonly Column[] = [
  { name: 'CPU', unit: 'µs/task', better: 'less' },
  { name: 'CPU of the server', unit: 'µs/task', better: 'less' },
  { name: 'CPU of the database', unit: 'µs/task', better: 'less' },
]

/** Begins to count; the function that it gives ends it. */
export function countCost({ producer, worker, stage }: Pair): (tasks: number) => Figures {
  const parts = { 'CPU of the server': stage.serverPid, 'CPU of the database': stage.databasePid }
  const named = Object.entries(parts).flatMap(([name, pid]) => (pid === undefined ? [] : [{ name, pid }]))
  const pids = new Map([['producer', producer.pid], ['worker', worker.pid], ...named.map(pair)])
  const begun = secondsOf(pids)
  return (tasks) => {
    const micros = new Map(
      [...secondsOf(pids)].map(([name, now]) => [name, ((now - begun.get(name)!) * 1e6) / tasks]),
    )
    const all = [...micros.values()].reduce((sum, part) => sum + part, 0)
    return { CPU: all, ...Object.fromEntries(named.map(({ name }) => [name, micros.get(name)!])) }
  }
}

function pair({ name, pid }: { name: string; pid: number }): [string, number] {
  return [name, pid]
}

function secondsOf(pids: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...pids].map(([name, pid]) => [name, processorSeconds(pid)]))
}
