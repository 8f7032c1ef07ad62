// What a store says, read through its port alone: so the same checks run on memory and on a real database.
import type { Principal } from '../../src/engine/model.ts'
import type { Positioned, Store, TaskView } from '../../src/store/port.ts'
import { createEvidence, type Evidence } from './evidence.ts'

export interface State {
  readonly tasks: ReadonlyMap<string, TaskView>
  readonly ledger: readonly Positioned[]
  /** Obligations that the store calls open. */
  readonly open: ReadonlySet<string>
  /** The same, and more, recomputed from the ledger. */
  readonly evidence: Evidence
}

export type StateReader = () => Promise<State>

const PAGE = 1_000

/** Reads all of a tenant. The evidence grows with the ledger, so that a reader looks at each receipt once. */
export function createStateReader(
  store: Pick<Store, 'listTasks' | 'listReceipts' | 'openObligations'>,
  { tenantId, principals }: { tenantId: string; principals: readonly Principal[] },
): StateReader {
  const evidence = createEvidence()
  return async () => {
    const [ledger, tasks, open] = await Promise.all([
      readLedger(store, tenantId),
      readTasks(store, tenantId),
      Promise.all(principals.map((principal) => readOpen(store, { tenantId, principal }))),
    ])
    evidence.take(ledger)
    return { tasks, ledger, open: new Set(open.flat().map(({ receipt }) => receipt.receiptId)), evidence }
  }
}

async function readTasks(store: Pick<Store, 'listTasks'>, tenantId: string): Promise<Map<string, TaskView>> {
  const tasks = new Map<string, TaskView>()
  for (let before: string | null = null; ; ) {
    const page: readonly TaskView[] = await store.listTasks({
      tenantId,
      status: null,
      type: null,
      createdBy: null,
      concerning: null,
      deadLetter: null,
      tag: null,
      createdFrom: null,
      createdBefore: null,
      before,
      limit: PAGE,
    })
    for (const task of page) tasks.set(task.definition.taskId, task)
    if (page.length < PAGE) return tasks
    before = page.at(-1)!.definition.taskId
  }
}

async function readLedger(store: Pick<Store, 'listReceipts'>, tenantId: string): Promise<Positioned[]> {
  const anyone = { kind: null, id: null }
  const query = { tenantId, to: anyone, from: anyone, concerning: null, taskId: null, receiptType: null }
  return readPages((after) => store.listReceipts({ ...query, after, limit: PAGE }))
}

function readOpen(
  store: Pick<Store, 'openObligations'>,
  of: { tenantId: string; principal: Principal },
): Promise<Positioned[]> {
  return readPages((after) => store.openObligations({ ...of, after, limit: PAGE }))
}

async function readPages(
  read: (after: number | null) => Promise<readonly Positioned[]>,
): Promise<Positioned[]> {
  const all: Positioned[] = []
  for (;;) {
    const page = await read(all.at(-1)?.position ?? null)
    all.push(...page)
    if (page.length < PAGE) return all
  }
}
