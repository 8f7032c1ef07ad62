// The ledger beside that of the memory store: commits of any size and content, by writers whose clocks disagree, must be
// found by id, by key and by every filter, page by page, and nothing else.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { issueReceipt, receiptKey } from '../../src/engine/ledger.ts'
import type { Principal, Receipt } from '../../src/engine/model.ts'
import { createIds } from '../../src/ids.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Positioned, ReceiptQuery, Store } from '../../src/store/port.ts'
import { NO_CHANGES, NO_NEEDS } from '../no-changes.ts'
import { createSeededRandom } from '../seeded-random.ts'
import type { Given } from './conformance.ts'
import { createRig, EVERY_RECEIPT } from './rig.ts'

const RUNS = 15
const START = Date.UTC(2026, 0, 1)
const TASKS = [1, 2, 3].map((n) => `019b76da-0000-7000-8000-00000000000${n}`)
const TYPES = ['task.seen', 'task.heard', 'x.note']
const PRINCIPALS: Principal[] = [
  { kind: 'agent', id: 'ada' },
  { kind: 'worker', id: 'ada' },
  { kind: 'human', id: 'a "quoted\\ name", Åsa' },
  { kind: 'system', id: 'asyncgate' },
]

const principal = fc.constantFrom(...PRINCIPALS)

/** A writer says what time it is; `stray` receipts have ids of anywhere. */
const commit = fc.record({
  writer: fc.nat({ max: 2 }),
  laterMs: fc.nat({ max: 3 }),
  receipts: fc.array(
    fc.record({
      type: fc.constantFrom(...TYPES),
      from: principal,
      to: principal,
      taskId: fc.option(fc.constantFrom(...TASKS)),
      parents: fc.array(fc.uuid(), { maxLength: 2 }),
      text: fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constant('long '.repeat(500))),
      stray: fc.option(fc.uuid(), { freq: 20 }),
    }),
    { minLength: 1, maxLength: 60, size: 'max' },
  ),
})

const listed = fc.record({
  to: fc.record({ kind: fc.option(fc.constantFrom('agent', 'human')), id: fc.option(fc.constant('ada')) }),
  from: fc.constantFrom({ kind: null, id: null }, ...PRINCIPALS),
  concerning: fc.option(principal, { freq: 2 }),
  taskId: fc.option(fc.constantFrom(...TASKS), { freq: 2 }),
  receiptType: fc.option(fc.constantFrom(...TYPES), { freq: 2 }),
  limit: fc.constantFrom(1, 3, 50),
}) as fc.Arbitrary<Omit<ReceiptQuery, 'tenantId' | 'after'>>

let runs = 0

export function segments(given: Given): void {
  test('the end of a task is found, also where a segment and a page end within it', async () => {
    const { store } = given()
    const rig = createRig(store)
    const { tenantId } = rig
    const [from, to] = [PRINCIPALS[3]!, PRINCIPALS[0]!]
    const one = { from, to, parents: [], text: '', stray: null, taskId: null, type: 'x.note' }
    // Somewhere among these sizes a segment ends before the last receipt.
    const sizes = Array.from({ length: 14 }, (_, index) => 14 + index)
    const ends = sizes.flatMap((size) => [126 - size, size + 1])
    const commits = ends.map((size) => ({
      writer: 0,
      laterMs: 1,
      receipts: Array.from({ length: size }, () => one),
    }))
    const written = receiptsOf(tenantId, commits)
    for (let at = 0; at < written.length; at += 2) {
      const { taskId, receiptId } = await rig.create()
      await append(store, tenantId, written[at]!)
      const receipts = written[at + 1]!.map((receipt, index): Receipt => {
        const types = ['task.failed', 'task.result_ready']
        const type = types[index - (written[at + 1]!.length - types.length)]
        return type === undefined ? receipt : { ...receipt, receiptType: type, taskId }
      })
      const before = (await store.readTask(tenantId, taskId))!
      const result = {
        outcome: 'failed',
        result: null,
        error: null,
        artifacts: [],
        deliveryProof: null,
        completedAt: 1,
      } as const
      const ended = {
        status: 'failed',
        place: 'none',
        completedAt: 1,
        result,
        terminalReceiptId: receipts.at(-2)!.receiptId,
      } as const
      const after = { ...before, state: { ...before.state, ...ended } }
      await store.transact({
        tenantId,
        now: 1,
        needs: { ...NO_NEEDS, taskIds: new Set([taskId]) },
        decide: () => ({
          changes: { ...NO_CHANGES, changedTasks: [{ before, after }], receipts },
          result: null,
        }),
      })
      const found = await store.listReceipts({ ...EVERY_RECEIPT, tenantId, taskId, limit: 20 })
      expect(found.map(({ receipt }) => receipt.receiptId)).toEqual([
        receiptId,
        ...receipts.slice(-2).map((r) => r.receiptId),
      ])
      expect(found.at(-1)!.position % 128).toBe(0)
    }
  })

  test('what lies on both sides of the end of a page is found on both', async () => {
    const { store } = given()
    const tenantId = `segments ${process.pid} ${++runs}`
    const one = {
      type: 'task.seen',
      from: PRINCIPALS[3]!,
      to: PRINCIPALS[3]!,
      parents: [],
      text: '',
      stray: null,
    }
    const before = Array.from({ length: 126 }, () => ({ ...one, taskId: TASKS[0]! }))
    const across = [1, 2].map(() => ({ ...one, type: 'x.note', to: PRINCIPALS[0]!, taskId: TASKS[1]! }))
    const commits = [before, across].map((receipts) => ({ writer: 0, laterMs: 1, receipts }))
    for (const receipts of receiptsOf(tenantId, commits)) await append(store, tenantId, receipts)
    const filters = [{ taskId: TASKS[1]! }, { to: PRINCIPALS[0]! }, { receiptType: 'x.note' }]
    for (const filter of [...filters, { concerning: PRINCIPALS[0]! }]) {
      const query = { ...EVERY_RECEIPT, ...filter, limit: 1 }
      const pages = await inPages(store, tenantId, query)
      expect(pages.flat().map(({ position }) => position)).toEqual([127, 128])
    }
  })

  test.each([0, 1, 64, 127])(
    'what lies on every page of one large commit is found on each, behind %i others',
    async (others) => {
      const { store } = given()
      const tenantId = `segments ${process.pid} ${++runs}`
      const one = { type: 'task.seen', to: PRINCIPALS[3]!, taskId: null, parents: [], text: '', stray: null }
      const spread = Array.from({ length: 700 }, (_, at) => ({ ...one, from: PRINCIPALS[at % 50 ? 3 : 0]! }))
      const before = Array.from({ length: others }, () => ({ ...one, from: PRINCIPALS[3]! }))
      const commits = [before, spread].map((receipts) => ({ writer: 0, laterMs: 1, receipts }))
      for (const receipts of receiptsOf(tenantId, commits)) await append(store, tenantId, receipts)
      const query = { ...EVERY_RECEIPT, from: PRINCIPALS[0]!, limit: 4 }
      const found = (await inPages(store, tenantId, query)).flat()
      expect(found.map(({ position }) => position - others - 1)).toEqual(
        spread.flatMap(({ from }, at) => (from === PRINCIPALS[0] ? at : [])),
      )
    },
  )

  test('whatever was committed is found as in memory, and nothing else', async () => {
    const property = fc.asyncProperty(
      fc.array(commit, { minLength: 1, maxLength: 12 }),
      fc.array(listed, { minLength: 4, maxLength: 8 }),
      fc.array(fc.uuid()),
      async (commits, lists, madeUp) => {
        const { store, beside } = given()
        const memory = createMemoryStore()
        const tenantId = `segments ${process.pid} ${++runs}`
        const written: Receipt[] = []
        for (const receipts of receiptsOf(tenantId, commits)) {
          await append(written.length % 2 ? store : beside, tenantId, receipts)
          await append(memory, tenantId, receipts)
          written.push(...receipts)
        }
        await expectSameLookups({ store, memory, tenantId, written, madeUp })
        for (const query of [EVERY_RECEIPT, ...lists])
          expect(await inPages(store, tenantId, query)).toEqual(await inPages(memory, tenantId, query))
      },
    )
    await fc.assert(property, { numRuns: RUNS })
  }, 120_000)
}

type Commit = typeof commit extends fc.Arbitrary<infer C> ? C : never

function receiptsOf(tenantId: string, commits: readonly Commit[]): Receipt[][] {
  let now = START
  let number = 0
  const clock = { now: () => now, after: () => () => {} }
  const writers = [0, 1, 2].map((seed) => createIds({ clock, random: createSeededRandom(seed) }))
  const known = new Set<string>()
  return commits.map(({ writer, laterMs, receipts }) => {
    now += laterMs
    return receipts.map((one) => {
      // The clocks are one and two milliseconds behind.
      const minted = writers[writer]!.next(now - writer)
      const receiptId = one.stray === null || known.has(one.stray) ? minted : one.stray
      known.add(receiptId)
      const body = { text: one.text, number: ++number }
      const fact = { receiptType: one.type, from: one.from, to: one.to, parents: one.parents, body }
      const whole = { ...fact, taskId: one.taskId, leaseId: null, scheduleId: null }
      return issueReceipt(whole, { receiptId, tenantId, now, instance: `gate ${writer}` })
    })
  })
}

function append(store: Store, tenantId: string, receipts: readonly Receipt[]): Promise<null> {
  const changes = { ...NO_CHANGES, receipts }
  return store.transact({ tenantId, now: START, needs: NO_NEEDS, decide: () => ({ changes, result: null }) })
}

interface Compared {
  readonly store: Store
  readonly memory: Store
  readonly tenantId: string
  readonly written: readonly Receipt[]
  readonly madeUp: readonly string[]
}

async function expectSameLookups({ store, memory, tenantId, written, madeUp }: Compared): Promise<void> {
  const ids = written.map(({ receiptId }) => receiptId)
  const near = ids.map((id) => `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`)
  const edges = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'no id']
  const wanted = await memory.readReceipts(tenantId, ids)
  const byId = (found: readonly Positioned[]) => found.toSorted((a, b) => a.position - b.position)
  expect(byId(await store.readReceipts(tenantId, ids))).toEqual(wanted)
  expect(await store.readReceipt(tenantId, ids[0]!)).toEqual(wanted[0])
  const others = [...near, ...madeUp, ...edges].filter((id) => !ids.includes(id))
  expect(await store.readReceipts(tenantId, others)).toEqual([])
  const keys = new Set(written.map((receipt) => receiptKey(receipt, receipt.hash)))
  const needs = { ...NO_NEEDS, receiptKeys: keys, receiptIds: new Set(ids) }
  const unit = { tenantId, now: START, needs }
  const seenBy = (of: Store) =>
    of.transact({
      ...unit,
      decide: ({ receipts, receiptsByKey }) => ({
        changes: NO_CHANGES,
        result: { receipts: new Map(receipts), repeatable: notes(receiptsByKey) },
      }),
    })
  expect(await seenBy(store)).toEqual(await seenBy(memory))
}

/** Only what can be repeated need be found by its key. */
function notes(byKey: ReadonlyMap<string, Receipt>): Map<string, Receipt> {
  return new Map([...byKey].filter(([, { receiptType }]) => receiptType === 'x.note'))
}

async function inPages(
  store: Store,
  tenantId: string,
  query: Omit<ReceiptQuery, 'tenantId' | 'after'>,
): Promise<Positioned[][]> {
  const pages: Positioned[][] = []
  for (let after = 0; ; ) {
    const page = await store.listReceipts({ ...query, tenantId, after })
    pages.push([...page])
    if (page.length < query.limit) return pages
    after = page.at(-1)!.position
  }
}
