// The ledger: every receipt once, in one order; obligations open until a receipt says otherwise.
import { expect, test } from 'vitest'
import type { Command } from '../../src/engine/command.ts'
import type { Grant } from '../../src/engine/decide/index.ts'
import type { Given } from './conformance.ts'
import {
  AGENT,
  claimCommand,
  complete,
  createRig,
  EVERY_RECEIPT,
  fail,
  holding,
  newTask,
  type Rig,
  WORKER,
} from './rig.ts'

const GRACE = { kind: 'human', id: 'grace' } as const

function submit(receiptType: string, over: { parents?: readonly string[]; body?: object } = {}): Command {
  return {
    kind: 'submitReceipt',
    from: AGENT,
    to: GRACE,
    receiptType,
    parents: over.parents ?? [],
    body: { ...over.body },
    taskId: null,
    scheduleId: 's-1',
  }
}

function open(rig: Rig, over: { after?: number; limit?: number; principal?: typeof AGENT } = {}) {
  const { principal = AGENT, after = null, limit = 100 } = over
  return rig.store.openObligations({ tenantId: rig.tenantId, principal, after, limit })
}

type Losing = (rig: Rig, grant: Grant) => Promise<unknown>

/** Ways in which a worker's claim ends. */
const LOSSES: readonly (readonly [string, Losing])[] = [
  ['held', async () => {}],
  ['released', (rig, grant) => rig.ask({ kind: 'release', ...holding(grant), reason: null })],
  [
    'released and granted again',
    (rig, grant) => rig.run([{ kind: 'release', ...holding(grant), reason: null }, claimCommand()]),
  ],
  ['to be retried', (rig, grant) => rig.ask(fail(grant))],
  ['completed', (rig, grant) => rig.ask(complete(grant))],
  [
    'canceled',
    (rig, { lease: { taskId } }) =>
      rig.ask({ kind: 'cancel', actor: { principal: AGENT, sees: 'all' }, taskId, reason: null }),
  ],
  [
    'expired',
    async (rig, { lease: { taskId, leaseId, ttlMs } }) => {
      rig.pass(ttlMs)
      await rig.ask({ kind: 'expire', taskId, leaseId })
    },
  ],
]

let pages = 0

/** More than a page of the ledger. */
async function appendPage(rig: Rig): Promise<void> {
  pages += 1
  await rig.run(Array.from({ length: 150 }, (_, n) => submit('x.note', { body: { n, pages } })))
}

export function ledger(given: Given): void {
  test.each(LOSSES)('the claims of a task that is %s are found pages later', async (_how, lose) => {
    const rig = createRig(given().store)
    const { taskId } = await rig.create()
    for (const claims of [1, 2]) {
      await appendPage(rig)
      const [grant] = await rig.claim()
      if (grant === undefined) return // it has ended, or is held
      await appendPage(rig)
      await lose(rig, grant)
      await appendPage(rig)
      const accepted = (await rig.receipts({ taskId })).filter((type) => type === 'task.accepted')
      expect(accepted.length).toBeGreaterThanOrEqual(claims)
      expect(accepted).toEqual(await rig.receipts({ receiptType: 'task.accepted' }))
      rig.pass(60_000)
    }
  })

  test('a task leaves its four receipts in order, each as it was issued', async () => {
    const rig = createRig(given().store)
    const { taskId, receiptId } = await rig.create({ recipient: GRACE })
    const [grant] = await rig.claim()
    await rig.ask(complete(grant!))
    const all = await rig.store.listReceipts({ ...EVERY_RECEIPT, tenantId: rig.tenantId, taskId })
    expect(all.map(({ position, receipt }) => [position, receipt.receiptType])).toEqual([
      [1, 'task.assigned'],
      [2, 'task.accepted'],
      [3, 'task.completed'],
      [4, 'task.result_ready'],
    ])
    expect(all[2]!.receipt).toMatchObject({
      tenantId: rig.tenantId,
      from: WORKER,
      to: GRACE,
      taskId,
      leaseId: grant!.lease.leaseId,
      scheduleId: null,
      parents: [receiptId],
      body: { schema_version: '1', result_payload: { done: true } },
      createdAt: rig.now(),
      instance: 'test',
    })
    expect(all[2]!.receipt.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(await rig.store.readReceipt(rig.tenantId, receiptId)).toEqual(all[0])
    const ids = all.map(({ receipt }) => receipt.receiptId)
    expect(await rig.store.readReceipts(rig.tenantId, ids.slice(1))).toEqual(all.slice(1))
  })

  test('filters and pages are exact', async () => {
    const rig = createRig(given().store)
    const [one] = [await rig.create(), await rig.create({ recipient: GRACE, createdBy: GRACE })]
    await rig.claim()
    const none = { kind: null, id: null }
    expect(await rig.receipts({ taskId: one.taskId })).toEqual(['task.assigned', 'task.accepted'])
    expect(await rig.receipts({ to: { kind: null, id: 'grace' } })).toEqual(['task.assigned'])
    expect(await rig.receipts({ to: { kind: 'agent', id: 'grace' } })).toEqual([])
    expect(await rig.receipts({ to: { kind: 'system', id: null }, from: none })).toHaveLength(2)
    expect(await rig.receipts({ from: WORKER })).toEqual(['task.accepted', 'task.accepted'])
    expect(await rig.receipts({ receiptType: 'task.assigned', after: 1 })).toEqual(['task.assigned'])
    expect(await rig.receipts({ concerning: AGENT })).toEqual(['task.assigned'])
    expect(await rig.receipts({ concerning: WORKER, after: 3, limit: 5 })).toEqual(['task.accepted'])
    // What concerns a principal, together with each other filter.
    const accepted = ['task.accepted', 'task.accepted']
    expect(await rig.receipts({ concerning: WORKER, from: WORKER })).toEqual(accepted)
    expect(await rig.receipts({ concerning: WORKER, receiptType: 'task.accepted' })).toEqual(accepted)
    expect(await rig.receipts({ concerning: WORKER, to: { kind: 'system', id: 'asyncgate' } })).toEqual(
      accepted,
    )
    expect(await rig.receipts({ concerning: AGENT, from: WORKER })).toEqual([])
    expect(await rig.receipts({ concerning: AGENT, taskId: one.taskId })).toEqual(['task.assigned'])
    expect(await rig.receipts({ concerning: WORKER, taskId: one.taskId, from: WORKER })).toEqual([
      'task.accepted',
    ])
    expect(await rig.receipts({ concerning: AGENT, to: AGENT, receiptType: 'task.assigned' })).toHaveLength(1)
    expect(await rig.receipts({ after: 1, limit: 2 })).toEqual(['task.assigned', 'task.accepted'])
    expect(await rig.receipts({ after: 4 })).toEqual([])
  })

  test('a reader that follows the ledger under writers of several instances sees every receipt once, in order', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    let writing = true
    const seen: number[] = []
    const follow = async () => {
      let after: number | null = null
      for (let last = false; ; ) {
        const page = await store.listReceipts({ ...EVERY_RECEIPT, tenantId: rig.tenantId, after, limit: 7 })
        seen.push(...page.map(({ position }) => position))
        after = page.at(-1)?.position ?? after
        if (page.length === 0 && last) return
        if (page.length === 0) await new Promise((resolve) => setImmediate(resolve))
        last = !writing
      }
    }
    const write = async (index: number) => {
      for (let round = 0; round < 15; round++) {
        const tasks = Array.from(
          { length: 1 + ((index + round) % 4) },
          () => ({ kind: 'create', task: newTask() }) as const,
        )
        await rig.run(tasks, (index + round) % 2 ? store : beside)
      }
    }
    const following = follow()
    await Promise.all([0, 1, 2, 3].map(write))
    writing = false
    await following
    const total = (await rig.receipts()).length
    expect(total).toBeGreaterThan(100)
    expect(seen).toEqual(Array.from({ length: total }, (_, index) => index + 1))
  })

  test('an obligation is open until a receipt of the right type names it', async () => {
    const rig = createRig(given().store)
    const { receiptId } = await rig.create()
    expect((await open(rig)).map(({ receipt }) => receipt.receiptId)).toEqual([receiptId])
    expect(await rig.store.dischargedBy(rig.tenantId, receiptId)).toBeNull()
    await rig.ask(submit('schedule.deleted', { parents: [receiptId] }))
    await rig.ask({ kind: 'ack', actor: { principal: AGENT, sees: 'all' }, receiptId })
    expect(await open(rig)).toHaveLength(1)
    const [grant] = await rig.claim()
    const done = await rig.ask<{ receiptId: string }>(complete(grant!))
    expect(await open(rig)).toEqual([])
    expect(await rig.store.dischargedBy(rig.tenantId, receiptId)).toBe(done.receiptId)
    expect(await rig.store.dischargedBy(rig.tenantId, done.receiptId)).toBeUndefined()
  })

  test('an obligation that is opened and discharged in one unit is closed', async () => {
    const rig = createRig(given().store)
    const [on] = [await rig.create()]
    const actor = { principal: AGENT, sees: 'all' } as const
    await rig.ask({ kind: 'cancel', actor, taskId: on.taskId, reason: null })
    const dead = await rig.create({ dependsOn: [on.taskId] })
    expect(dead.status).toBe('canceled')
    expect(await open(rig)).toEqual([])
    expect(await rig.store.dischargedBy(rig.tenantId, dead.receiptId)).toEqual(expect.any(String))
  })

  test('schedules open and discharge obligations of their own, and the first receipt counts', async () => {
    const rig = createRig(given().store)
    const { receiptId } = await rig.ask<{ receiptId: string }>(submit('schedule.created'))
    expect(await open(rig, { principal: AGENT })).toEqual([])
    expect(await open(rig, { principal: GRACE as unknown as typeof AGENT })).toHaveLength(1)
    const end = (n: number) => submit('schedule.deleted', { parents: [receiptId], body: { n } })
    const [first] = await rig.run([end(1), end(2)])
    await rig.ask(end(3))
    expect(first).toMatchObject({ ok: true, reply: { isDuplicate: false } })
    const firstId = (first as { reply: { receiptId: string } }).reply.receiptId
    expect(await rig.store.dischargedBy(rig.tenantId, receiptId)).toBe(firstId)
  })

  test('open obligations are paged by position, and are the principal’s own', async () => {
    const rig = createRig(given().store)
    for (let index = 0; index < 5; index++) await rig.create({ recipient: index === 2 ? GRACE : AGENT })
    expect((await open(rig)).map(({ position }) => position)).toEqual([1, 2, 4, 5])
    expect((await open(rig, { after: 1, limit: 2 })).map(({ position }) => position)).toEqual([2, 4])
    expect(await open(rig, { principal: { kind: 'worker', id: 'ada' } })).toEqual([])
  })

  test('the same submitted fact, and the same acknowledgement, are recorded once', async () => {
    const { store, beside } = given()
    const rig = createRig(store)
    const { receiptId } = await rig.create()
    const ack = { kind: 'ack', actor: { principal: AGENT, sees: 'all' }, receiptId } as const
    const note = submit('x.note', { body: { text: 'hello' } })
    const both = await Promise.all(
      Array.from({ length: 8 }, (_, index) => rig.run([note, ack], index % 2 ? store : beside)),
    )
    expect(
      new Set(
        both.map(([result]) => JSON.stringify((result as { reply: { receiptId: string } }).reply.receiptId)),
      ).size,
    ).toBe(1)
    expect((await rig.receipts()).toSorted()).toEqual(['receipt.acknowledged', 'task.assigned', 'x.note'])
  })

  test('the index of obligations agrees with the receipts', async () => {
    expect(await given().store.findDoubtfulObligations(10)).toEqual([])
  })
}
