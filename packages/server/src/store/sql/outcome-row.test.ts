// What the row of an ended task leaves out comes back from its other columns.
import { expect, test } from 'vitest'
import { storedArtifact } from '../../engine/ledger.ts'
import type { Settlement, TaskResult } from '../../engine/model.ts'
import { lastWordFromRow, lastWordToRow, resultFromRow, resultToRow } from './outcome-row.ts'

const TASK = '01900000-0000-7000-8000-000000000001'
const END = { status: 'succeeded', completed_at: 7 } as const

const plain: TaskResult = {
  outcome: 'succeeded',
  result: { done: true },
  error: null,
  artifacts: [storedArtifact(TASK)],
  deliveryProof: null,
  completedAt: 7,
}
const read = (result: object) => resultFromRow({ task_id: TASK, ...END, result: JSON.stringify(result) })

test.each<[string, Partial<TaskResult>, object]>([
  ['a result that is kept with its task', {}, { result: { done: true }, isStored: true }],
  ['no result, nowhere', { result: null, artifacts: [] }, {}],
  ['an empty text and zero', { result: ['', 0], artifacts: [] }, { result: ['', 0] }],
  [
    'an artifact elsewhere',
    { artifacts: [{ url: 'https://x' }] },
    { result: { done: true }, artifacts: [{ url: 'https://x' }] },
  ],
  [
    'one elsewhere beside the one that is kept',
    { artifacts: [{ url: 'https://x' }, storedArtifact(TASK)] },
    { result: { done: true }, artifacts: [{ url: 'https://x' }, storedArtifact(TASK)] },
  ],
  [
    'one that is said to be kept with another task',
    { artifacts: [storedArtifact('other')] },
    { result: { done: true }, artifacts: [storedArtifact('other')] },
  ],
  [
    'one that says more of what is kept',
    { artifacts: [{ ...storedArtifact(TASK), mime: 'text/plain' }] },
    { result: { done: true }, artifacts: [{ ...storedArtifact(TASK), mime: 'text/plain' }] },
  ],
  [
    'an error and a proof',
    { result: null, error: { code: 'x' }, artifacts: [], deliveryProof: { mode: 'mail' } },
    { error: { code: 'x' }, deliveryProof: { mode: 'mail' } },
  ],
])('of %s the row says what no other column does', (_name, over, said) => {
  const result = { ...plain, ...over }
  expect(resultToRow(result, TASK)).toEqual(said)
  expect(read(said)).toEqual(result)
})

test('a row that says all of it itself is read as it says', () => {
  const other: TaskResult = {
    ...plain,
    outcome: 'failed',
    completedAt: 3,
    error: 'e',
    artifacts: [{ key: 'k' }],
  }
  expect(read(other)).toEqual(other)
})

const RECEIPT = '01900000-0000-7000-8000-000000000002'
const facts = { status: 'succeeded', terminalReceiptId: RECEIPT }
const completed: Settlement = {
  action: 'complete',
  requestHash: 'a1',
  reply: { status: 'succeeded', receiptId: RECEIPT },
  receiptId: RECEIPT,
}

test.each<[string, Partial<Settlement>, object]>([
  ['a completion', {}, { action: 'complete', requestHash: 'a1' }],
  [
    'a failure',
    { action: 'fail', reply: { requeued: false } },
    { action: 'fail', requestHash: 'a1', reply: { requeued: false }, receiptId: RECEIPT },
  ],
  [
    'a reply with more to it',
    { reply: { ...completed.reply, more: 1 } },
    { ...completed, reply: { ...completed.reply, more: 1 } },
  ],
  ['another receipt', { receiptId: 'other' }, { ...completed, receiptId: 'other' }],
])('of %s the last word is what the row does not say anyhow', (_name, over, said) => {
  const settlement = { ...completed, ...over }
  expect(lastWordToRow(settlement, facts)).toEqual(said)
  expect(lastWordFromRow(JSON.stringify(said), facts)).toEqual(settlement)
})

test('a last word that says all of itself is read as it says', () => {
  expect(lastWordFromRow(JSON.stringify(completed), { status: 'x', terminalReceiptId: 'y' })).toEqual(
    completed,
  )
})
