// The state machine as the specification prints it: every state × every move, one line each, refusals included.
import { GateError } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { verifies } from '../../test/requirements.ts'
import { type Move, nextStatus } from './state-table.ts'
import { isTerminal, type TaskStatus } from './model.ts'

/** `nothing`: it is over, and that is no error; the others are the codes that refuse the move. */
type Expected = TaskStatus | 'nothing' | 'lease_invalid_or_expired' | 'invalid_transition'

// biome-ignore format: a table reads as a table
const TABLE: readonly (readonly [TaskStatus, Move, Expected])[] = [
  ['queued',    'claim',       'leased'],
  ['queued',    'start',       'lease_invalid_or_expired'],
  ['queued',    'progress',    'lease_invalid_or_expired'],
  ['queued',    'renew',       'lease_invalid_or_expired'],
  ['queued',    'release',     'lease_invalid_or_expired'],
  ['queued',    'complete',    'lease_invalid_or_expired'],
  ['queued',    'retryLater',  'lease_invalid_or_expired'],
  ['queued',    'failForGood', 'lease_invalid_or_expired'],
  ['queued',    'expire',      'nothing'],
  ['queued',    'poison',      'nothing'],
  ['queued',    'deadline',    'failed'],
  ['queued',    'cancel',      'canceled'],
  ['queued',    'redrive',     'invalid_transition'],
  ['queued',    'attach',      'invalid_transition'],

  ['leased',    'claim',       'invalid_transition'],
  ['leased',    'start',       'running'],
  ['leased',    'progress',    'running'],
  ['leased',    'renew',       'leased'],
  ['leased',    'release',     'queued'],
  ['leased',    'complete',    'succeeded'],
  ['leased',    'retryLater',  'queued'],
  ['leased',    'failForGood', 'failed'],
  ['leased',    'expire',      'queued'],
  ['leased',    'poison',      'failed'],
  ['leased',    'deadline',    'failed'],
  ['leased',    'cancel',      'canceled'],
  ['leased',    'redrive',     'invalid_transition'],
  ['leased',    'attach',      'invalid_transition'],

  ['running',   'claim',       'invalid_transition'],
  ['running',   'start',       'running'],
  ['running',   'progress',    'running'],
  ['running',   'renew',       'running'],
  ['running',   'release',     'queued'],
  ['running',   'complete',    'succeeded'],
  ['running',   'retryLater',  'queued'],
  ['running',   'failForGood', 'failed'],
  ['running',   'expire',      'queued'],
  ['running',   'poison',      'failed'],
  ['running',   'deadline',    'failed'],
  ['running',   'cancel',      'canceled'],
  ['running',   'redrive',     'invalid_transition'],
  ['running',   'attach',      'invalid_transition'],

  ['succeeded', 'claim',       'invalid_transition'],
  ['succeeded', 'start',       'lease_invalid_or_expired'],
  ['succeeded', 'progress',    'lease_invalid_or_expired'],
  ['succeeded', 'renew',       'lease_invalid_or_expired'],
  ['succeeded', 'release',     'lease_invalid_or_expired'],
  ['succeeded', 'complete',    'lease_invalid_or_expired'],
  ['succeeded', 'retryLater',  'lease_invalid_or_expired'],
  ['succeeded', 'failForGood', 'lease_invalid_or_expired'],
  ['succeeded', 'expire',      'nothing'],
  ['succeeded', 'poison',      'nothing'],
  ['succeeded', 'deadline',    'nothing'],
  ['succeeded', 'cancel',      'nothing'],
  ['succeeded', 'redrive',     'invalid_transition'],
  ['succeeded', 'attach',      'succeeded'],

  ['failed',    'claim',       'invalid_transition'],
  ['failed',    'start',       'lease_invalid_or_expired'],
  ['failed',    'progress',    'lease_invalid_or_expired'],
  ['failed',    'renew',       'lease_invalid_or_expired'],
  ['failed',    'release',     'lease_invalid_or_expired'],
  ['failed',    'complete',    'lease_invalid_or_expired'],
  ['failed',    'retryLater',  'lease_invalid_or_expired'],
  ['failed',    'failForGood', 'lease_invalid_or_expired'],
  ['failed',    'expire',      'nothing'],
  ['failed',    'poison',      'nothing'],
  ['failed',    'deadline',    'nothing'],
  ['failed',    'cancel',      'nothing'],
  ['failed',    'redrive',     'failed'],
  ['failed',    'attach',      'invalid_transition'],

  ['canceled',  'claim',       'invalid_transition'],
  ['canceled',  'start',       'lease_invalid_or_expired'],
  ['canceled',  'progress',    'lease_invalid_or_expired'],
  ['canceled',  'renew',       'lease_invalid_or_expired'],
  ['canceled',  'release',     'lease_invalid_or_expired'],
  ['canceled',  'complete',    'lease_invalid_or_expired'],
  ['canceled',  'retryLater',  'lease_invalid_or_expired'],
  ['canceled',  'failForGood', 'lease_invalid_or_expired'],
  ['canceled',  'expire',      'nothing'],
  ['canceled',  'poison',      'nothing'],
  ['canceled',  'deadline',    'nothing'],
  ['canceled',  'cancel',      'nothing'],
  ['canceled',  'redrive',     'invalid_transition'],
  ['canceled',  'attach',      'invalid_transition'],
]

/** The status that follows, or what is said instead; a refusal must name the status that it found. */
function outcomeOf(status: TaskStatus, move: Move): Expected {
  try {
    return nextStatus(status, move) ?? 'nothing'
  } catch (error) {
    if (!(error instanceof GateError)) throw error
    expect(error.details).toEqual({ task_status: status })
    expect(error.status).toBe(409)
    return error.code as Expected // the table has no other refusals
  }
}

test.each(TABLE)('%s × %s: %s', (status, move, expected) => {
  expect(outcomeOf(status, move)).toBe(expected)
})

verifies('STATE-1', 'the table leaves no state and no move out', () => {
  const states = new Set(TABLE.map(([status]) => status))
  const moves = new Set(TABLE.map(([, move]) => move))
  expect(new Set(TABLE.map(([status, move]) => `${status} ${move}`)).size).toBe(states.size * moves.size)
  expect([states.size, moves.size]).toEqual([6, 14])
})

verifies('STATE-2', 'no move leads from a terminal state to another one', () => {
  const ways = TABLE.filter(([status]) => isTerminal(status)).map(([status, move]) => [
    status,
    outcomeOf(status, move),
  ])
  const refusals = ['nothing', 'lease_invalid_or_expired', 'invalid_transition']
  expect(ways.filter(([status, to]) => to !== status && !refusals.includes(to!))).toEqual([])
})
