// What durability costs: end to end, one by one, with the promise of GUAR-1 and with weaker ones.
import { chooseEntrants, type Entrant } from '../contenders/entrants.ts'
import { type GroundOptions, type PostgresGround, startPostgresGround } from '../lab/postgres.ts'
import type { Bench, Row, Scenario } from '../scenario.ts'
import { COST_COLUMNS } from './cost.ts'
import { measureEndToEnd } from './end-to-end.ts'
import { once } from './own-gate.ts'

const POSTGRES: readonly { readonly label: string; readonly options: GroundOptions }[] = [
  { label: 'synchronous_commit on', options: {} },
  { label: 'synchronous_commit off', options: { settings: { synchronous_commit: 'off' } } },
  { label: 'fsync off', options: { fsync: false } },
]

export const durability: Scenario = {
  about: 'end to end, one by one, for each setting of durability',
  count: 10_000,
  columns: [{ name: 'end to end', unit: 'tasks/s', better: 'more' }, ...COST_COLUMNS],
  ratio: 'first ÷ row',
  order: 'alternating',
  rows: async (bench) => {
    if (bench.settings.store !== 'postgres') {
      bench.note('AsyncGate commits to SQLite with synchronous=FULL and has no setting for less.')
      return rowsOf(bench, await chooseEntrants(bench), '')
    }
    const rows: Row[] = []
    for (const { label, options } of POSTGRES) {
      const ground = once<PostgresGround>(() => startPostgresGround(bench.lab, options))
      const there: Bench = { ...bench, postgres: ground }
      rows.push(...rowsOf(there, await chooseEntrants(there), `, ${label}`))
    }
    return rows
  },
}

function rowsOf(bench: Bench, entrants: readonly Entrant[], suffix: string): Row[] {
  return entrants.map((entrant) => ({
    label: entrant.label + suffix,
    measure: () => measureEndToEnd(bench, entrant),
  }))
}
