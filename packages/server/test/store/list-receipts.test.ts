// A list that needs several looks at the database, while others write.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { listReceipts } from '../../src/store/sql/list-receipts.ts'
import type { Session } from '../../src/store/sql/session.ts'
import { openConnection } from '../../src/store/sqlite/connection.ts'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'
import { verifies } from '../requirements.ts'
import { createRig, EVERY_RECEIPT, newTask } from './rig.ts'

const GRACE = { kind: 'human', id: 'grace' } as const

verifies('RCPT-10', 'a list of several looks misses nothing that was added between them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-list-'))
  const path = join(folder, 'gate.db')
  const store = await createSqliteStore({ path })
  await store.migrate()
  const rig = createRig(store)
  const add = (count: number, recipients: Readonly<Record<number, typeof GRACE>>) =>
    rig.run(
      Array.from({ length: count }, (_, index) => ({
        kind: 'create',
        task: newTask(recipients[index] === undefined ? {} : { recipient: recipients[index] }),
      })),
    )
  // One on the first page of 128, one on the second, which is not full yet.
  await add(200, { 0: GRACE, 150: GRACE })
  const reader = openConnection(path, { readOnly: true, busyTimeoutMs: 1_000 })
  let looks = 0
  const interrupted: Session = {
    ...reader,
    all: async (query, params) => {
      const found = await reader.all(query, params)
      // The first of these is still on the second page, the last on the third.
      if (looks++ === 0) await add(100, { 10: GRACE, 90: GRACE })
      return found as never
    },
  }
  const query = { ...EVERY_RECEIPT, tenantId: rig.tenantId, to: GRACE, limit: 3 }
  const page = await listReceipts(interrupted, query)
  expect(page.map(({ position }) => position)).toEqual([1, 151, 211])
  expect(looks).toBe(2)
  reader.close()
  await store.close()
  await rm(folder, { recursive: true })
})
