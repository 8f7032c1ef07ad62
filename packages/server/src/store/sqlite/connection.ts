// One SQLite connection: statements prepared once, rows bound one by one, errors in the store's own words.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { StoreFailure } from '../sql/failure.ts'
import { compile, makeRowMaker, type RowMaker } from '../sql/row-maker.ts'
import type { Bulk, Columns, ColumnType, Query, RowOf, Session, Value } from '../sql/session.ts'
import { sqliteText } from './words.ts'

/** A statement and all rows that it is run for: their values in one list, since thousands of small ones keep V8 moving them. */
export interface Bound extends Pick<Bulk, 'expects'> {
  readonly text: string
  readonly values: readonly SQLInputValue[]
  readonly rows: number
}

export interface Connection extends Session {
  exec(sql: string): void
  /** For another connection to run; null where somebody waits for what it finds. */
  bindAll(query: Query, params: readonly Value[]): Bound | null
  bindEach<C extends Columns>(bulk: Bulk<C>, tenantId: string, rows: readonly RowOf<C>[]): Bound | null
  run(bound: Bound): void
  /** Another number after each commit of another connection, also of another process. */
  version(): number
  /** How many pages the log has, to be asked while no transaction is open. Null: this SQLite does not tell. */
  readonly logLength: (() => number) | null
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
      const columns = 'columns' in of ? Object.entries(of.columns) : []
      const expects = 'expects' in of ? of.expects : undefined
      prepared = { ...runnable({ text: sqliteText(of), expects }), toParams: makeParamsMaker(columns) }
      statements.set(of, prepared)
    }
    return prepared
  }

  function runnable({ text, expects }: Pick<Bound, 'text' | 'expects'>): Runnable {
    const statement = database.prepare(text)
    return { text, expects, statement, toRow: rowsOf(statement) }
  }

  /** What other connections have bound. */
  const foreign = new Map<string, Runnable>()

  function prepareBound(bound: Bound): Runnable {
    let prepared = foreign.get(bound.text)
    if (prepared === undefined) foreign.set(bound.text, (prepared = runnable(bound)))
    return prepared
  }

  const dataVersion = guarded(() => database.prepare('pragma data_version'))

  return {
    path: database.location() ?? path,
    version: () => guarded(() => Number(dataVersion.get()!['data_version'])),
    logLength: guarded(() => logCounter(database)),
    exec: (sql) => guarded(() => database.exec(sql)),
    close: () => database.close(),
    bindAll: (query, params) => guarded(() => bindAll(prepare(query), params)),
    bindEach: (bulk, tenantId, rows) => guarded(() => bindEach(prepare(bulk), tenantId, rows)),
    run: (bound) => guarded(() => runBound(prepareBound(bound), bound)),
    all: async <R>(query: Query, params: readonly Value[]) =>
      guarded(() => rowsFound<R>(prepare(query), params.map(bindable))),
    each: async <R>(bulk: Bulk<Columns>, tenantId: string, rows: readonly object[]) =>
      rows.length === 0 ? [] : guarded(() => runEach<R>(prepare(bulk), tenantId, rows)),
  }
}

/** Before 3.51, what only counts the pages would write them back. */
function logCounter(database: DatabaseSync): Connection['logLength'] {
  const { version } = database.prepare('select sqlite_version() as version').get()!
  const [major = 0, minor = 0] = String(version).split('.').map(Number)
  if (major === 3 && minor < 51) return null
  const counted = database.prepare('pragma wal_checkpoint(noop)')
  return () => guarded(() => Number(counted.get()!['log']))
}

interface Runnable extends Pick<Bulk, 'expects'> {
  readonly text: string
  readonly statement: StatementSync
  /** Null: it selects nothing. */
  readonly toRow: RowMaker<SQLOutputValue> | null
}

interface Prepared extends Runnable {
  /** From its input rows, if it has any. */
  readonly toParams: ParamsMaker
}

/** The values of each row come as a list: an object that SQLite's binding has made costs twice as much, more so when it is read. */
function rowsOf(statement: StatementSync): Runnable['toRow'] {
  const names = statement.columns().map(({ name }) => name)
  if (names.length === 0) return null
  statement.setReturnArrays(true)
  return makeRowMaker(names, (at) => `fields[${at}]`)
}

function isAskedFor({ toRow, expects }: Runnable): boolean {
  return toRow !== null && expects === undefined
}

function bindAll(prepared: Prepared, params: readonly Value[]): Bound | null {
  if (isAskedFor(prepared)) return null
  const { text, expects } = prepared
  return { text, expects, values: params.map(bindable), rows: 1 }
}

function bindEach(prepared: Prepared, tenantId: string, rows: readonly object[]): Bound | null {
  if (isAskedFor(prepared)) return null
  const { text, expects, toParams } = prepared
  const values: SQLInputValue[] = []
  for (const row of rows) values.push(...toParams(tenantId, row))
  return { text, expects, values, rows: rows.length }
}

function runBound(runnable: Runnable, { values, rows }: Bound): void {
  const width = values.length / rows
  for (let row = 0; row < rows; row += 1) rowsFound(runnable, values.slice(row * width, (row + 1) * width))
}

function rowsFound<R>({ statement, expects, toRow }: Runnable, params: readonly SQLInputValue[]): R[] {
  if (toRow === null) {
    const { changes } = statement.run(...params)
    if (expects === 'change' && changes !== 1) throw unexpected()
    return []
  }
  // Not `iterate`: it costs half as much again. The statement's author knows its columns.
  const found = (statement.all(...params) as unknown as SQLOutputValue[][]).map(toRow) as R[]
  if (expects === 'row' && found.length !== 1) throw unexpected()
  return found
}

function unexpected(): StoreFailure {
  return new StoreFailure('conflict', new Error('a row is not as expected'))
}

function runEach<R>(prepared: Prepared, tenantId: string, rows: readonly object[]): R[] {
  const found: R[] = []
  for (const row of rows) {
    for (const result of rowsFound<R>(prepared, prepared.toParams(tenantId, row))) found.push(result)
  }
  return found
}

type ParamsMaker = (tenantId: string, row: object) => SQLInputValue[]

/** Code of its own for each statement, as for its rows. */
function makeParamsMaker(columns: readonly [string, ColumnType][]): ParamsMaker {
  const params = columns.map(([name, type]) => {
    const value = `row[${JSON.stringify(name)}]`
    return `${value} === null || ${value} === undefined ? null : ${toParam(value, type)}`
  })
  return compile(['tenantId', 'row'], `return [${['tenantId', ...params].join(', ')}]`) as ParamsMaker
}

function toParam(value: string, type: ColumnType): string {
  if (type === 'json' || type === 'texts') return `JSON.stringify(${value})`
  return type === 'boolean' ? `Number(${value})` : value
}

function bindable(value: Value): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : value
}

function guarded<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof StoreFailure ? error : new StoreFailure(kindOf(error), error)
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
  if (code === BUSY || code === LOCKED || UNIQUE.has(extended) || isOutOfRoom(error)) return 'conflict'
  return UNAVAILABLE.has(code) || isClosed(error) ? 'unavailable' : 'defect'
}

/** The race for the last places of a quota was lost: see migration 0014. */
function isOutOfRoom(error: unknown): boolean {
  return error instanceof Error && error.message.includes('ledger_segments_room')
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
}
