// Statements as SQLite reads them.
import { expect, test } from 'vitest'
import { bulk, query } from '../sql/session.ts'
import { sqliteText } from './words.ts'

test('a limit is not planned by, so that no statement is planned anew each time', () => {
  const some = query('some', () => 'select a from t where b = $1 limit $2')
  expect(sqliteText(some)).toBe('select a from t where b = ?1 limit +?2')
})

test.each([
  ['insert', 'insert into t (a, b) select $1, x.b from', 'insert or fail into t (a, b) select ?1, ?2 from'],
  ['update', 'update t set b = x.b where a = $1', 'update or fail t set b = ?2 where a = ?1'],
])('a failed %s need not be undone by itself', (_what, written, read) => {
  expect(sqliteText(bulk('change', { b: 'text' }, () => written))).toBe(read)
})

test('what is done instead of an insertion stays as it is', () => {
  const upsert = query('upsert', () => 'insert into t (a) values ($1) on conflict (a) do update set b = 1')
  expect(sqliteText(upsert)).toBe('insert or fail into t (a) values (?1) on conflict (a) do update set b = 1')
})
