// Everything that a store tells of its tasks and receipts, as plain JSON: to see whether two stores agree, and whether
// a call has changed anything.
import type { Store } from '../src/store/port.ts'

export const EVERY_TASK = {
  status: null,
  type: null,
  createdBy: null,
  concerning: null,
  deadLetter: null,
  tag: null,
  createdFrom: null,
  createdBefore: null,
  before: null,
  limit: 100_000,
}
export const EVERY_RECEIPT = {
  to: { kind: null, id: null },
  from: { kind: null, id: null },
  concerning: null,
  taskId: null,
  receiptType: null,
  after: null,
  limit: 100_000,
}

async function read(store: Store, tenantId: string) {
  const tasks = await store.listTasks({ ...EVERY_TASK, tenantId })
  const receipts = await store.listReceipts({ ...EVERY_RECEIPT, tenantId })
  return { tasks, receipts }
}

/** Through JSON: stores may differ in what JSON does not tell apart, such as -0 and 0. */
export async function wholeState(store: Store, tenantId: string) {
  return JSON.parse(await stateText(store, tenantId)) as Awaited<ReturnType<typeof read>>
}

/** For comparing one store with itself, often. */
export async function stateText(store: Store, tenantId: string): Promise<string> {
  return JSON.stringify(await read(store, tenantId))
}
