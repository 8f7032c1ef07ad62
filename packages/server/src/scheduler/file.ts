// The scheduler's own SQLite file: which schedules the ledger holds, as far as it was read, and which run of each comes next. Any
// number of processes on one machine may share it. What is lost with it is read from the ledger again.
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { calendarFor, type Definition, type Owner, type Schedule } from './schedule.ts'
import { type Followed, LEDGER_TYPES, type News, sameFollowed } from './news.ts'

/** Another process may hold the file for the length of a commit. */
const BUSY_TIMEOUT_MS = 5_000
/** Where it is not known what was fired, runs that are no older than this are made up for, if the policy wants it: whoever fired them has left their tasks. */
const HINDSIGHT_MS = 3_600_000

const SCHEMA = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table if not exists about (born_at integer not null) strict;
  create table if not exists followed (receipt_type text primary key, receipt_id text not null) strict;
  create table if not exists schedules (
    schedule_id text primary key,
    owner_kind text not null,
    owner_id text not null,
    definition text not null,
    created_receipt_id text not null,
    paused_by text,
    next_run_at integer,
    hold_until integer not null default 0,
    last_run_at integer,
    last_task_id text,
    last_error text,
    unfired_since integer,
    overdue_run_at integer,
    told_run_at integer
  ) strict;
  create index if not exists schedules_by_run on schedules (next_run_at) where paused_by is null;
  create index if not exists schedules_by_owner on schedules (owner_kind, owner_id, schedule_id);
`

export interface Advance {
  readonly scheduleId: string
  /** The run that was next when the work began; if it is another by now, somebody else was faster. */
  readonly from: number
  readonly next: number | null
  readonly fired?: { readonly runAt: number; readonly taskId: string | null } | undefined
  readonly lastError: string | null
  readonly holdUntil: number
  readonly unfiredSince: number | null
  /** A run that is so late that its owner is to be told, once. */
  readonly overdueRunAt?: number | undefined
}

export interface ScheduleFile {
  followed(): Followed
  /** False, and nothing is changed, if the ledger was followed by another meanwhile. */
  learn(before: Followed, news: News): boolean
  due(now: number, limit: number): Schedule[]
  /** When the next run is due; null if none ever is. */
  nextDueAt(): number | null
  advance(step: Advance): void
  /** Takes back what a clock that was ahead has passed over. A run that was fired then is known to the server. */
  rewind(now: number): void
  overdue(): { readonly schedule: Schedule; readonly runAt: number }[]
  reported(scheduleId: string, runAt: number): void
  find(scheduleId: string): Schedule | undefined
  ownedBy(owner: Owner, page: { readonly after: string; readonly limit: number }): Schedule[]
  close(): void
}

type Row = Record<string, SQLOutputValue>

export function openScheduleFile(path: string, now: number): ScheduleFile {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  database.exec(SCHEMA)
  database.prepare('insert into about select ? where not exists (select 1 from about)').run(now)
  const bornAt = Number(database.prepare('select min(born_at) as born_at from about').get()!['born_at'])
  const all = (sql: string, ...values: (string | number | null)[]): Row[] =>
    database.prepare(sql).all(...values)
  const run = (sql: string, ...values: (string | number | null)[]) => database.prepare(sql).run(...values)

  function followed(): Followed {
    const rows = all('select receipt_type, receipt_id from followed')
    return Object.fromEntries(rows.map((row) => [row['receipt_type'], row['receipt_id']])) as Followed
  }

  function inTransaction(work: () => boolean): boolean {
    database.exec('begin immediate')
    try {
      const isDone = work()
      database.exec(isDone ? 'commit' : 'rollback')
      return isDone
    } catch (error) {
      database.exec('rollback')
      throw error
    }
  }

  function write({ created, paused, resumed, deleted, isWhole }: News): void {
    if (isWhole) {
      const ids = JSON.stringify(created.map(({ scheduleId }) => scheduleId))
      run('delete from schedules where schedule_id not in (select value from json_each(?))', ids)
    }
    for (const { scheduleId, owner, definition, receiptId } of created)
      run(
        `insert into schedules (schedule_id, owner_kind, owner_id, definition, created_receipt_id, next_run_at)
         values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
        scheduleId,
        owner.principal_kind,
        owner.principal_id,
        JSON.stringify(definition),
        receiptId,
        calendarFor(definition).after(bornAt - HINDSIGHT_MS),
      )
    for (const { scheduleId, receiptId } of paused)
      run('update schedules set paused_by = ? where schedule_id = ?', receiptId, scheduleId)
    for (const { scheduleId, pausedBy, at } of resumed) resume(scheduleId, pausedBy, at)
    for (const { scheduleId } of deleted) run('delete from schedules where schedule_id = ?', scheduleId)
  }

  /** Runs in the time of the pause were not wanted. */
  function resume(scheduleId: string, pausedBy: string, at: number): void {
    const row = all(
      'select * from schedules where schedule_id = ? and paused_by = ?',
      scheduleId,
      pausedBy,
    )[0]
    if (row === undefined) return
    const { definition, nextRunAt } = toSchedule(row)
    const next = calendarFor(definition).after(at)
    run(
      `update schedules set paused_by = null, next_run_at = ?, hold_until = 0, last_error = null, unfired_since = null
       where schedule_id = ?`,
      next === null ? null : Math.max(next, nextRunAt ?? 0),
      scheduleId,
    )
  }

  return {
    followed,
    learn: (before, news) =>
      inTransaction(() => {
        if (!sameFollowed(followed(), before)) return false
        write(news)
        run('delete from followed')
        for (const type of LEDGER_TYPES) {
          const receiptId = news.followed[type]
          if (receiptId !== undefined) run('insert into followed values (?, ?)', type, receiptId)
        }
        return true
      }),
    due: (now, limit) =>
      all(
        `select * from schedules where paused_by is null and next_run_at <= ? and hold_until <= ?
         order by next_run_at limit ?`,
        now,
        now,
        limit,
      ).map(toSchedule),
    nextDueAt: () => {
      const [row] = all(
        'select min(max(next_run_at, hold_until)) as due_at from schedules where paused_by is null',
      )
      return (row?.['due_at'] as number | null | undefined) ?? null
    },
    advance: ({ scheduleId, from, next, fired, lastError, holdUntil, unfiredSince, overdueRunAt }) =>
      void run(
        `update schedules set next_run_at = ?, last_run_at = coalesce(?, last_run_at), last_task_id = coalesce(?, last_task_id),
           last_error = ?, hold_until = ?, unfired_since = ?, overdue_run_at = coalesce(nullif(?, told_run_at), overdue_run_at)
         where schedule_id = ? and next_run_at = ?`,
        next,
        fired?.runAt ?? null,
        fired?.taskId ?? null,
        lastError,
        holdUntil,
        unfiredSince,
        overdueRunAt ?? null,
        scheduleId,
        from,
      ),
    rewind: (now) => {
      for (const { scheduleId, definition, nextRunAt } of all(
        'select * from schedules where paused_by is null and next_run_at > ?',
        now,
      ).map(toSchedule)) {
        const calendar = calendarFor(definition)
        const next = calendar.after(now)
        if (next === null || next >= nextRunAt!) continue // it was selected by having one
        run(
          'update schedules set next_run_at = ?, hold_until = 0 where schedule_id = ? and next_run_at = ?',
          calendar.after(now - HINDSIGHT_MS),
          scheduleId,
          nextRunAt,
        )
      }
    },
    overdue: () =>
      all('select * from schedules where overdue_run_at is not null').map((row) => ({
        schedule: toSchedule(row),
        runAt: Number(row['overdue_run_at']),
      })),
    reported: (scheduleId, runAt) =>
      void run(
        'update schedules set overdue_run_at = null, told_run_at = overdue_run_at where schedule_id = ? and overdue_run_at = ?',
        scheduleId,
        runAt,
      ),
    find: (scheduleId) => all('select * from schedules where schedule_id = ?', scheduleId).map(toSchedule)[0],
    ownedBy: (owner, { after, limit }) =>
      all(
        `select * from schedules where owner_kind = ? and owner_id = ? and schedule_id > ?
         order by schedule_id limit ?`,
        owner.principal_kind,
        owner.principal_id,
        after,
        limit,
      ).map(toSchedule),
    close: () => database.close(),
  }
}

/** Rows are written above alone, from what was checked before. */
function toSchedule(row: Row): Schedule {
  return {
    scheduleId: row['schedule_id'] as string,
    owner: {
      principal_kind: row['owner_kind'] as Owner['principal_kind'],
      principal_id: row['owner_id'] as string,
    },
    definition: JSON.parse(row['definition'] as string) as Definition,
    createdReceiptId: row['created_receipt_id'] as string,
    pausedBy: row['paused_by'] as string | null,
    nextRunAt: row['next_run_at'] as number | null,
    lastRunAt: row['last_run_at'] as number | null,
    lastTaskId: row['last_task_id'] as string | null,
    lastError: row['last_error'] as string | null,
    unfiredSince: row['unfired_since'] as number | null,
  }
}
