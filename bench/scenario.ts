// What a scenario is: a table whose rows are measured one after the other, several times.
import type { Lab } from './lab/lab.ts'
import type { PostgresGround } from './lab/postgres.ts'
import type { Settings } from './settings.ts'

export interface Column {
  readonly name: string
  readonly unit: string
  readonly better: 'more' | 'less'
}

/** Column name → value. */
export type Figures = Readonly<Record<string, number>>

export interface Row {
  readonly label: string
  measure(): Promise<Figures>
}

/** What is aimed at: the ratio of the first row to the rows whose label begins so, in one column. */
export interface Goal {
  readonly row: string
  readonly column: string
  readonly atLeast?: number
  readonly atMost?: number
  readonly store?: Settings['store']
}

export interface Scenario {
  readonly about: string
  /** Tasks for one measurement, unless --count says otherwise. */
  readonly count: number
  readonly columns: readonly Column[]
  /**
   * `first ÷ row`: the first row is ours, the others are peers. `row ÷ first`: the first row is what the others
   * should stay close to.
   */
  readonly ratio: 'first ÷ row' | 'row ÷ first'
  /** `alternating` measures every row once, then again; `in turn` finishes a row first, as the rows build on each other. */
  readonly order: 'alternating' | 'in turn'
  readonly goals?: readonly Goal[]
  rows(bench: Bench): Promise<readonly Row[]>
}

/** What a scenario works with. */
export interface Bench {
  readonly lab: Lab
  readonly settings: Settings
  readonly count: number
  /** Where profiles of our server go, when they are asked for. */
  readonly profileFolder: string | undefined
  /** Started with the first call, and then the same for everybody. */
  postgres(): Promise<PostgresGround>
  /** Something that a reader of the table must know. */
  note(text: string): void
}
