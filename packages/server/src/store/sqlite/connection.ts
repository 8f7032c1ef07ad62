// One SQLite connection: statements prepared once, rows bound one by one, errors in the store's own words.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { StoreFailure } from '../sql/failure.ts'
import type { Bulk, Columns, ColumnType, Query, Session, Value } from '../sql/session.ts'
import { sqliteText } from './words.ts'

export interface Connection extends Session {
  exec(sql: string): void
  /** Another number after each commit of another connection, also of another process. */
  version(): number
  /** The file itself, wherever links led to. */
  readonly path: string
  close(): void
}

export function openConnection(
  path: string,
  { readOnly, busyTimeoutMs }: { readOnly: boolean; busyTimeoutMs: number },
): Connection {
  const database = guarded(() => new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs }))
  const statements = new Map<Query | Bulk<Columns>, Prepared>()

  function prepare(of: Query | Bulk<Columns>): Prepared {
    let prepared = statements.get(of)
    if (prepared === undefined) {
      const statement = database.prepare(sqliteText(of))
      const columns = 'columns' in of ? Object.entries(of.columns) : []
      prepared = { statement, columns, answers: statement.columns().length > 0 }
      statements.set(of, prepared)
    }
    return prepared
  }

  const dataVersion = guarded(() => database.prepare('pragma data_version'))

  return {
    path: database.location() ?? path,
    version: () => guarded(() => Number(dataVersion.get()!['data_version'])),
    exec: (sql) => guarded(() => database.exec(sql)),
    close: () => database.close(),
    all: async <R>(query: Query, params: readonly Value[]) =>
      guarded(() => prepare(query).statement.all(...params.map(bindable)) as R[]), // the query's author knows its columns
    each: async <R>(bulk: Bulk<Columns>, tenantId: string, rows: readonly object[]) =>
      rows.length === 0 ? [] : guarded(() => runEach<R>(prepare(bulk), tenantId, rows)),
  }
}

interface Prepared {
  readonly statement: StatementSync
  /** Of its input rows, if it has any. */
  readonly columns: readonly [string, ColumnType][]
  /** Whether it selects anything. */
  readonly answers: boolean
}

function runEach<R>(
  { statement, columns, answers }: Prepared,
  tenantId: string,
  rows: readonly object[],
): R[] {
  const found: R[] = []
  for (const row of rows) {
    const values = row as Readonly<Record<string, unknown>> // a row of the bulk's columns
    const params: SQLInputValue[] = [tenantId]
    for (const [name, type] of columns) params.push(toColumn(values[name], type))
    // Not `iterate`: it costs half as much again.
    if (answers)
      for (const result of statement.all(...params)) found.push(result as R) // as above
    else statement.run(...params)
  }
  return found
}

function toColumn(value: unknown, type: ColumnType): SQLInputValue {
  if (value === null || value === undefined) return null
  if (type === 'json' || type === 'texts') return JSON.stringify(value)
  return bindable(value as Value) // the other types are plain values
}

function bindable(value: Value): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : value
}

function guarded<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new StoreFailure(kindOf(error), error)
  }
}

const BUSY = 5
const LOCKED = 6
/** Of a primary key, of a unique index. */
const UNIQUE = new Set([1555, 2067])
/** Disk and file trouble: read-only, interrupted, input/output, full, cannot open, no database. */
const UNAVAILABLE = new Set([8, 9, 10, 13, 14, 26])

function kindOf(error: unknown): StoreFailure['kind'] {
  const extended = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
  const code = extended & 0xff
  if (code === BUSY || code === LOCKED || UNIQUE.has(extended)) return 'conflict'
  return UNAVAILABLE.has(code) ? 'unavailable' : 'defect'
}
