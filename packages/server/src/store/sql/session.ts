// What the shared SQL is written against: statements as values, and the few things that a driver must do with
// them. Statements use PostgreSQL's `$1`; `Words` carries what the two databases say differently.
import type { Store } from '../port.ts'
import type { Task } from '../../engine/model.ts'
import type { ClaimNeed } from '../../engine/unit.ts'
import type { Holding } from './holdings.ts'

export type Value = string | number | boolean | null

/**
 * `hex` travels as hex text and is kept as bytes; `json` as a value and is kept as text with its keys in
 * order; `address` is where a row lies (see `Words`).
 */
export type ColumnType = 'address' | 'uuid' | 'text' | 'texts' | 'int' | 'bigint' | 'boolean' | 'json' | 'hex'

export type Columns = Readonly<Record<string, ColumnType>>

type Member<T extends ColumnType> = T extends 'address' | 'uuid' | 'text' | 'hex'
  ? string | null
  : T extends 'int' | 'bigint'
    ? number | null
    : T extends 'boolean'
      ? boolean
      : T extends 'texts'
        ? readonly string[]
        : unknown

export type RowOf<C extends Columns> = { readonly [K in keyof C]: Member<C[K]> }

/** Rows of a table that are to be changed: those of the tenant whose `keys` equal those of an input row. */
export interface Matching {
  readonly table: string
  readonly keys: readonly string[]
  readonly input: string
  /** A further condition on the row, and the column to go along (see `find`). */
  readonly and?: (row: string) => string
  readonly along?: string
}

/**
 * Lookups are words, not plain joins: PostgreSQL plans a statement once, perhaps while its tables are empty
 * or have never been analysed, and would then scan a tenant's whole table for each batch. They leave it no
 * choice but the index.
 */
export interface Words {
  /** Whether a `Bulk` is run once, with all of its rows. */
  readonly takesAllRows: boolean
  /**
   * For each row of what stands before: the rows of a table that fit, by an index. Where several could be meant, `along` names
   * the column, after the tenant, of the one to be used.
   */
  find(table: string, alias: string, condition: string, along?: string): string
  /**
   * The same, locked until the end of the transaction; where there is one writer at a time, there is nothing
   * to lock.
   */
  findLocked(table: string, alias: string, condition: string): string
  /** Locked too; rows that another transaction has locked are passed over. */
  findFree(table: string, alias: string, condition: string): string
  findOptional(table: string, alias: string, condition: string): string
  /** At the end of a select from one table: what it finds is locked, and what another has locked passed over. */
  readonly passingOverLocked: string
  /** `set` may name the input row `x` and the row itself by the table's name. */
  update(matching: Matching, set: string): string
  delete(matching: Matching): string
  /**
   * Where the row of a task lies, as text: it stays there while this transaction holds its lock and has not changed it, and
   * is found there without a look at any index.
   */
  address(alias: string): string
  /** Whether a row of the tenant lies where one of the input rows says, in its column `address`. */
  liesAt(table: string, input: string): string
  /** A column is one of those that a select gives. */
  among(column: string, select: string): string
  /** hex text → bytes, and back. */
  unhex(expression: string): string
  hex(expression: string): string
  /** Whether a text contains another. */
  contains(text: string, part: string): string
  /** The members of a JSON array as a relation `e(value)`. */
  elements(expression: string): string
  /** What a select gives, as a relation to join with; it is run once, however many rows it is joined with. */
  once(select: string): string
  /** A whole statement: no other transaction of the tenant `$1` gets past it until this one has ended. */
  readonly holdLedger: string
  /** Whether the time in the id of a new task is not the one that the clock of the database shows. */
  comesLate(id: string): string
  /** Text as an id. */
  id(expression: string): string
}

/** One statement with parameters. Its identity is the key of the prepared-statement caches: make it once. */
export interface Query {
  readonly name: string
  /**
   * True for lists: their best plan depends on the values and on how much there is, so each call is planned
   * anew.
   */
  readonly planEachTime?: boolean
  readonly text: (words: Words) => string
}

/**
 * One statement over a set of rows: `$1` is the tenant, the rows are the relation `x`. PostgreSQL gets one array
 * for each column. SQLite runs it once for each row, with its values bound: measured 2–3 × faster
 * there than json_each.
 */
export interface Bulk<C extends Columns = Columns> {
  readonly name: string
  /** Where it is run for each row: one row must change, or be found, for each, or the transaction fails with a conflict. */
  readonly expects?: 'change' | 'row' | undefined
  readonly columns: C
  readonly text: (input: string, words: Words) => string
}

export function query(name: string, text: Query['text']): Query {
  return { name, text }
}

export function listQuery(name: string, text: Query['text']): Query {
  return { name, text, planEachTime: true }
}

export function bulk<const C extends Columns>(name: string, columns: C, text: Bulk<C>['text']): Bulk<C> {
  return { name, columns, text }
}

/** The names of the columns as a list, for the two halves of an insert. */
export function names(columns: Columns, relation?: string): string {
  const prefix = relation === undefined ? '' : `${relation}.`
  return Object.keys(columns)
    .map((name) => `${prefix}${name}`)
    .join(', ')
}

export interface Session {
  all<R>(query: Query, params: readonly Value[]): Promise<R[]>
  /** Without rows, nothing is sent. */
  each<R, C extends Columns>(bulk: Bulk<C>, tenantId: string, rows: readonly RowOf<C>[]): Promise<R[]>
}

export interface Transaction extends Session {
  /**
   * Nothing that it finds is locked, and what it writes is written at its end. Whatever it takes is compared then with what it
   * found, and a difference is a conflict.
   */
  readonly isOptimistic: boolean
  /** What follows is another tenant's: for the few commits that write to more than one. */
  enter(tenantId: string): Promise<void>
  /** Commits once `written` is fulfilled; what it rejects with is the reason why nothing was committed. */
  commit(written: Promise<unknown>): Promise<void>
  /** Never rejects: whatever is broken is dropped. */
  rollback(): Promise<void>
}

/** What is known of a transaction before it begins. */
export interface Outlook {
  readonly commands: number
  /** But for what claims find and what is remembered of leases. */
  readonly locksNothing: boolean
}

/** What must not be counted by two transactions at once. */
export interface Counted {
  readonly taskIds: readonly string[]
  readonly concurrencyKeys: ReadonlySet<string>
  readonly workers: ReadonlySet<string>
  readonly tenant: boolean
}

export interface KeyRoom {
  readonly concurrencyKey: string
  /** Active leases and parked tasks of the key that this transaction has loaded and so may end. */
  readonly ending: number
  /** Where it is not what the parked tasks themselves say: the limit of their type. */
  readonly limit: number | null
}

export interface Offer {
  readonly tasks: readonly Task[]
  /** There are none, because other transactions hold what fits. */
  readonly held: boolean
}

export interface ParkedHead {
  readonly concurrency_key: string
  readonly task_id: string
}

export interface Driver {
  readonly kind: Store['kind']
  readonly commitsAtOnce: Store['commitsAtOnce']
  /** Whether reading before writing takes a round trip. */
  readonly looksCost: boolean
  /** The tenant's rows and no others, whatever a statement asks for, where the database can hold to that. */
  readerOf(tenantId: string): Session
  /** For the few reads that look across tenants; no caller is answered with what they find. */
  readonly acrossTenants: Session
  /** Across tenants too, for statements that read whole tables: checks and figures, which nobody waits for. */
  readonly scanner: Session
  /** Sees and changes the tenant's rows alone, as above. By the outlook the driver may choose to make it optimistic. */
  begin(tenantId: string, outlook?: Outlook): Promise<Transaction>
  /**
   * Locks the keys of these tasks, and these keys, workers and tenant, in one order, until the end of the
   * transaction.
   */
  holdCounts(tx: Transaction, tenantId: string, counted: Counted): Promise<void>
  /**
   * Without waiting: whoever holds a candidate's row must not wait for a key. The keys that were to be had.
   */
  tryHoldKeys(tx: Transaction, tenantId: string, keys: readonly string[]): Promise<ReadonlySet<string>>
  /** What was decided by as it was remembered must be so, or the transaction fails with a conflict. */
  expectHeld(session: Session, tenantId: string, holdings: readonly Holding[]): Promise<unknown>
  /** The same, for what leaves its shelf. */
  takeHeld(session: Session, tenantId: string, holdings: readonly Holding[]): Promise<unknown>
  /** Tasks that were queued leave their shelf. */
  takeQueued(session: Session, tenantId: string, tasks: readonly Task[]): Promise<unknown>
  /** Ready tasks for a claim, locked; at least the best `count` of those that nobody else has locked. */
  selectCandidates(tx: Transaction, tenantId: string, claim: ClaimNeed): Promise<Offer>
  /** For each key, lane and type, the best parked tasks, as many as there could be room for. */
  parkedHeads(tx: Transaction, tenantId: string, rooms: readonly KeyRoom[]): Promise<readonly ParkedHead[]>
  /** Asked before what makes something ready: other instances may be told of it, so that they look as soon as it is committed. */
  announce(session: Session, tenantId: string): Promise<void>
  /**
   * Asked before claims look that nothing goes with, and before anything is locked: what another instance announced last has
   * ended by then. Fails with a conflict where that takes long.
   */
  awaitAnnounced(session: Session, tenantId: string): Promise<void>
  isAlone: Store['isAlone']
  hint: Store['hint']
  onHint: Store['onHint']
  migrate: Store['migrate']
  pendingMigrations: Store['pendingMigrations']
  findBreaches: Store['findBreaches']
  readClock: Store['readClock']
  ping: Store['ping']
  durability: Store['durability']
  close: Store['close']
}
