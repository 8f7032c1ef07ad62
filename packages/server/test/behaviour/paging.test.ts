// Lists: pages are disjoint and complete, limits and cursors are checked, and writers disturb no reader.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'vitest'
import { encodeCursor } from '../../src/facade/page.ts'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore } from './harness.ts'
import { ALICE, BOB, hold, queue, type Receipts } from './steps.ts'

interface Page {
  readonly ids: string[]
  readonly next: string | null
}
type Asked = { limit?: number; cursor?: string }

interface List {
  /** Fills the list with so many entries and gives their ids, in the order in which they are listed. */
  fill(bench: Bench, count: number): Promise<string[]>
  page(bench: Bench, asked: Asked): Promise<Page>
  refusal(bench: Bench, asked: object): ReturnType<Bench['refusal']>
  readonly cursorOf: 'tasks' | 'receipts' | 'obligations' | 'progress'
}

async function create(bench: Bench, count: number) {
  const created: { task_id: string; receipt_id: string }[] = []
  for (let done = 0; done < count; done += 100) {
    const tasks = Array.from({ length: Math.min(100, count - done) }, () => ({ type: 'work' }))
    const reply = await bench.call('createTasks', { tasks })
    created.push(...(reply.tasks as typeof created))
  }
  return created
}

/** The one task of the bench, whose progress is listed. */
const reporting = new WeakMap<Bench, string>()

async function report(bench: Bench, count: number): Promise<string[]> {
  const { holding, task_id } = await hold(bench)
  reporting.set(bench, task_id)
  for (let done = 0; done < count; done += 1)
    await bench.call('reportProgress', { ...holding, progress: { step: done } })
  return Array.from({ length: count }, (_, index) => String(index))
}

const progressOf = (bench: Bench) => ({ task_id: reporting.get(bench) ?? '' })

const LISTS: Record<string, List> = {
  listTasks: {
    fill: async (bench, count) => (await create(bench, count)).map((task) => task.task_id).toReversed(),
    page: async (bench, asked) => {
      const { tasks, next_cursor } = await bench.call('listTasks', asked)
      return { ids: tasks.map((task) => task.task_id), next: next_cursor }
    },
    refusal: (bench, asked) => bench.refusal('listTasks', asked),
    cursorOf: 'tasks',
  },
  listReceipts: {
    fill: async (bench, count) => (await create(bench, count)).map((task) => task.receipt_id),
    page: async (bench, asked) => {
      const { receipts, next_cursor } = await bench.call('listReceipts', asked)
      return { ids: receipts.map((receipt) => receipt.receipt_id), next: next_cursor }
    },
    refusal: (bench, asked) => bench.refusal('listReceipts', asked),
    cursorOf: 'receipts',
  },
  openObligations: {
    fill: async (bench, count) => (await create(bench, count)).map((task) => task.receipt_id),
    page: async (bench, asked) => {
      const { open_obligations, cursor } = await bench.call('openObligations', asked)
      return { ids: open_obligations.map((receipt) => receipt.receipt_id), next: cursor }
    },
    refusal: (bench, asked) => bench.refusal('openObligations', asked),
    cursorOf: 'obligations',
  },
  getProgress: {
    fill: report,
    page: async (bench, asked) => {
      const { progress, next_cursor } = await bench.call('getProgress', { ...progressOf(bench), ...asked })
      const steps = progress.map((entry) => String((entry.progress as { step: number }).step))
      return { ids: steps, next: next_cursor }
    },
    refusal: (bench, asked) => bench.refusal('getProgress', { ...progressOf(bench), ...asked }),
    cursorOf: 'progress',
  },
}

async function allPages(list: List, bench: Bench, limit: number): Promise<Page[]> {
  const pages: Page[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list.page(bench, { limit, ...(cursor ? { cursor } : {}) })
    pages.push(page)
    cursor = page.next
  }
  return pages
}

onEveryStore('pages', (open) => {
  for (const [name, list] of Object.entries(LISTS)) {
    verifies(
      'OPS-2',
      `${name}: pages are disjoint, complete and in one order, whatever their size`,
      async () => {
        const bench = await open()
        const ids = await list.fill(bench, 7)
        for (const limit of [1, 2, 3, 6, 7, 8, 200]) {
          const pages = await allPages(list, bench, limit)
          expect(pages.flatMap((page) => page.ids)).toEqual(ids)
          expect(pages.map((page) => page.ids.length)).toEqual(sizes(7, limit))
        }
      },
    )

    verifies('OPS-2', `${name}: a page has 50 entries unless it is asked for 1 to 200`, async () => {
      const bench = await open()
      const ids = await list.fill(bench, 201)
      expect((await list.page(bench, {})).ids).toEqual(ids.slice(0, 50))
      expect((await list.page(bench, { limit: 1 })).ids).toEqual(ids.slice(0, 1))
      const full = await list.page(bench, { limit: 200 })
      expect(full.ids).toEqual(ids.slice(0, 200))
      const last = await list.page(bench, { limit: 200, cursor: full.next! })
      expect(last).toEqual({ ids: ids.slice(200), next: null })
    })

    verifies('OPS-6', `${name}: a limit outside 1..200 is refused by name`, async () => {
      const bench = await open()
      await list.fill(bench, 1)
      for (const limit of [0, -1, 201, 1_000_000, 1.5, '5', null]) {
        const error = await list.refusal(bench, { limit })
        expect([limit, error.code, error.details.field]).toEqual([limit, 'invalid_input', 'limit'])
      }
    })

    verifies('OPS-6', `${name}: a cursor that is not its own is refused by name`, async () => {
      const bench = await open()
      await list.fill(bench, 2)
      const { next } = await list.page(bench, { limit: 1 })
      const foreign = Object.values(LISTS)
        .map((other) => other.cursorOf)
        .filter((other) => other !== list.cursorOf)
        .map((other) => encodeCursor(other, other === 'tasks' ? '0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c01' : 1))
      const spoiled = [`${next}x`, `${next}==`, next!.slice(0, -3), 'AAAA', '1', ' ', '', 'ä', 7]
      const forged = ['-1', '1.5', '1e3', '9'.repeat(16), '', ' 1', 'x'].map((text) =>
        encodeCursor(list.cursorOf, text),
      )
      for (const cursor of [...foreign, ...spoiled, ...forged]) {
        const error = await list.refusal(bench, { limit: 1, cursor })
        expect([cursor, error.code, error.details.field]).toEqual([cursor, 'invalid_input', 'cursor'])
      }
    })
  }

  verifies('OPS-6', 'the configured bounds hold instead of 50 and 200', async () => {
    const bench = await open({ list: { default_limit: 2, max_limit: 3 } })
    await create(bench, 5)
    expect((await bench.call('listTasks', {})).tasks).toHaveLength(2)
    expect((await bench.call('listTasks', { limit: 3 })).tasks).toHaveLength(3)
    const error = await bench.refusal('listTasks', { limit: 4 })
    expect(error.message).toContain('1 to 3')
  })

  verifies('OPS-2', 'tasks that are created while somebody turns pages disturb none of them', async () => {
    const bench = await open()
    const ids = (await create(bench, 4)).map((task) => task.task_id).toReversed()
    const first = await bench.call('listTasks', { limit: 2 })
    await create(bench, 3)
    const second = await bench.call('listTasks', { limit: 2, cursor: first.next_cursor! })
    expect([...first.tasks, ...second.tasks].map((task) => task.task_id)).toEqual(ids)
    expect(second.next_cursor).toBeNull()
  })

  verifies('OPS-2', 'a filtered list has full pages, since filters come before limits', async () => {
    const bench = await open()
    for (let count = 0; count < 4; count += 1) {
      await queue(bench, { type: 'wanted', requirements: { tags: ['red'] } })
      await create(bench, 5)
    }
    for (const filter of [{ type: 'wanted' }, { tag: 'red' }]) {
      const page = await bench.call('listTasks', { limit: 4, ...filter })
      expect(page.tasks.map((task) => task.type)).toEqual(Array(4).fill('wanted'))
      expect(page.next_cursor).toBeNull()
    }
  })

  verifies('OPS-2', 'tasks are filtered by status, owner, tag, dead letter and time', async () => {
    const bench = await open()
    const alice = await queue(bench, { ...ALICE, requirements: { tags: ['red', 'blue'] } })
    await bench.clock.advance(1_000)
    const bob = await queue(bench, { ...BOB, max_attempts: 1 })
    await bench.clock.advance(1_000)
    const both = await queue(bench, { ...ALICE, recipient: BOB, type: 'other' })
    const { tasks } = await bench.call('leaseNext', { worker_id: 'w1', max_tasks: 2 })
    const { lease_id } = tasks[1]!
    const error = { code: 'e', message: '' }
    await bench.call('fail', { worker_id: 'w1', task_id: bob.task_id, lease_id, error })
    const found = async (filter: Parameters<typeof bench.call<'listTasks'>>[1]) =>
      (await bench.call('listTasks', filter)).tasks.map((task) => task.task_id)
    expect(await found({ status: 'leased' })).toEqual([alice.task_id])
    expect(await found({ status: 'failed', dead_letter: true })).toEqual([bob.task_id])
    expect(await found({ dead_letter: false })).toEqual([both.task_id, alice.task_id])
    expect(await found({ created_by: 'agent/alice' })).toEqual([both.task_id, alice.task_id])
    expect(await found({ created_by: 'bob' })).toEqual([bob.task_id])
    expect(await found({ created_by: 'agent/bob' })).toEqual([])
    expect(await found({ tag: 'blue' })).toEqual([alice.task_id])
    expect(await found({ tag: 'Blue' })).toEqual([])
    expect(await found({ type: 'other', created_by: 'alice' })).toEqual([both.task_id])
    const second = '2026-01-01T00:00:01.000Z'
    expect(await found({ created_after: second })).toEqual([both.task_id, bob.task_id])
    expect(await found({ created_before: second })).toEqual([alice.task_id])
    expect(
      await found({ created_after: '2026-01-01T01:00:01+01:00', created_before: '2026-01-01T00:00:02Z' }),
    ).toEqual([bob.task_id])
  })

  verifies('OPS-2', 'receipts are filtered by sender, recipient, task and type', async () => {
    const bench = await open()
    const { holding, task_id, receipt_id } = await hold(bench, { ...ALICE, recipient: BOB })
    await queue(bench, BOB)
    await bench.call('complete', { ...holding, store_result: true })
    const found = async (filter: Parameters<typeof bench.call<'listReceipts'>>[1]) =>
      (await bench.call('listReceipts', filter)).receipts.map((receipt) => receipt.receipt_type)
    expect(await found({ from_id: 'alice' })).toEqual(['task.assigned'])
    expect(await found({ from_kind: 'worker' })).toEqual(['task.accepted', 'task.completed'])
    expect(await found({ to_kind: 'human', to_id: 'bob' })).toEqual([
      'task.assigned',
      'task.assigned',
      'task.completed',
      'task.result_ready',
    ])
    expect(await found({ to_kind: 'agent', to_id: 'bob' })).toEqual([])
    expect(await found({ task_id, from_kind: 'system' })).toEqual(['task.result_ready'])
    expect(await found({ receipt_type: 'task.accepted' })).toEqual(['task.accepted'])
    expect(await found({ task_id, since_receipt_id: receipt_id })).toEqual([
      'task.accepted',
      'task.completed',
      'task.result_ready',
    ])
  })

  verifies('OPS-2', 'a cursor and since_receipt_id together mean the later of the two', async () => {
    const bench = await open()
    const ids = (await create(bench, 6)).map((task) => task.receipt_id)
    const first = await bench.call('listReceipts', { limit: 2 })
    for (const [since, expected] of [
      [ids[0], ids.slice(2)],
      [ids[3], ids.slice(4)],
    ] as const) {
      const page = await bench.call('listReceipts', { cursor: first.next_cursor!, since_receipt_id: since! })
      expect(page.receipts.map((receipt) => receipt.receipt_id)).toEqual(expected)
    }
  })

  verifies(
    'OPS-6',
    'names of the longest length that is allowed are kept, claimed by and found',
    async () => {
      const bench = await open()
      // Three bytes each in UTF-8: what is long for a reader must not be too long for an index.
      const long = (letter: string) => letter.repeat(200)
      const alice = { principal_kind: 'agent' as const, principal_id: long('€') }
      const { task_id } = await bench.call('createTask', {
        ...alice,
        type: long('™'),
        recipient: { principal_kind: 'human', principal_id: long('‰') },
        requirements: {
          capabilities: [long('ク')],
          tags: Array.from({ length: 50 }, (_, at) => `${long('タ').slice(2)}${at + 10}`),
        },
        concurrency_key: long('※'),
        idempotency_key: '鍵'.repeat(500),
        payload_pointer: '指'.repeat(2_000),
        summary: '要'.repeat(2_000),
      })
      const found = await bench.call('listTasks', { created_by: `agent/${long('€')}`, type: long('™') })
      expect(found.tasks.map((task) => task.task_id)).toEqual([task_id])
      const worker_id = long('働')
      const claim = { worker_id, capabilities: [long('ク')], accept_types: [long('™')] }
      const { tasks } = await bench.call('leaseNext', claim)
      expect(tasks.map((task) => task.task_id)).toEqual([task_id])
      const { receipts } = await bench.call('listReceipts', { from_id: worker_id })
      expect(receipts).toHaveLength(1)
      await bench.call('submitReceipt', {
        ...alice,
        receipt_type: `x.${'a'.repeat(198)}`,
        to: { kind: 'human', id: long('‰') },
        schedule_id: long('暦'),
      })
      const owed = await bench.call('listReceipts', {
        to_id: long('‰'),
        receipt_type: `x.${'a'.repeat(198)}`,
      })
      expect(owed.receipts).toMatchObject([{ schedule_id: long('暦') }])
    },
  )

  verifies('RCPT-10', 'receipts of one instant are listed in one stable order', async () => {
    const bench = await open()
    const ids = (await create(bench, 30)).map((task) => task.receipt_id)
    const receipts = await bench.receipts()
    expect(new Set(receipts.map((receipt) => receipt.created_at)).size).toBe(1)
    expect(receipts.map((receipt) => receipt.receipt_id)).toEqual(ids)
    expect(await bench.receipts()).toEqual(receipts)
  })

  verifies('RCPT-10', 'a reader that follows the ledger under writers sees every receipt once', async () => {
    const bench = await open()
    // Two instances on one store: their transactions overlap, and commit in an order of their own.
    const other = await open()
    const as = { caller: { tenantId: bench.tenantId } }
    let writing = true
    const readers = [followBySince(bench, () => writing), followByCursor(bench, () => writing)]
    await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const { call } = index % 2 === 0 ? bench : other
        for (let round = 0; round < 12; round += 1) {
          const { task_id } = await call('createTask', { type: 'work' }, as)
          if (round % 3 === 0) await call('cancelTask', { task_id }, as)
        }
      }),
    )
    writing = false
    const ledger = (await ledgerOf(bench)).map((receipt) => receipt.receipt_id)
    expect(ledger).toHaveLength(8 * (12 + 4 * 2))
    for (const seen of await Promise.all(readers)) expect(seen).toEqual(ledger)
  })
})

function sizes(count: number, limit: number): number[] {
  const full = Array(Math.floor(count / limit)).fill(limit)
  return count % limit === 0 ? full : [...full, count % limit]
}

async function ledgerOf(bench: Bench): Promise<Receipts> {
  const all: Receipts = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await bench.call('listReceipts', { limit: 200, ...(cursor ? { cursor } : {}) })
    all.push(...page.receipts)
    cursor = page.next_cursor
  }
  return all
}

/** As a client does that comes back from time to time with the last receipt that it knows. */
async function followBySince(bench: Bench, goesOn: () => boolean): Promise<string[]> {
  const seen: string[] = []
  for (;;) {
    const last = !goesOn()
    const since = seen.at(-1)
    const { receipts } = await bench.call('listReceipts', {
      limit: 7,
      ...(since ? { since_receipt_id: since } : {}),
    })
    seen.push(...receipts.map((receipt) => receipt.receipt_id))
    if (last && receipts.length === 0) return seen
    await nextTurn()
  }
}

/** As a client does that turns pages, and begins again behind the last one when there is no next. */
async function followByCursor(bench: Bench, goesOn: () => boolean): Promise<string[]> {
  const seen: string[] = []
  let from: object = {}
  for (;;) {
    const last = !goesOn()
    const page = await bench.call('listReceipts', { limit: 5, ...from })
    seen.push(...page.receipts.map((receipt) => receipt.receipt_id))
    if (last && page.receipts.length === 0) return seen
    const since = seen.at(-1)
    if (page.next_cursor !== null) from = { cursor: page.next_cursor }
    else if (since !== undefined) from = { since_receipt_id: since }
    await nextTurn()
  }
}
