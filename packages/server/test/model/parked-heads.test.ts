// What the model found about parked tasks on the SQL stores, as the shortest history, on every store.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Claimed } from '../../src/engine/decide/index.ts'
import { claimOf, completeOf, newTask } from '../simulation/commands.ts'
import { type OpenedStore, openTestStore, STORE_KINDS } from '../stores.ts'
import { POLICY } from './run.ts'
import { createSide } from './side.ts'
import { AGENTS, WORKERS } from './steps.ts'

const NOW = Date.UTC(2026, 0, 1)
const owner = AGENTS[0]!
const worker = WORKERS[0]!

describe.each(STORE_KINDS)('%s', (kind) => {
  let opened: OpenedStore
  beforeAll(async () => {
    opened = await openTestStore(kind)
  })
  afterAll(() => opened.dispose())

  test('a slot goes to the next parked task when the first one is canceled in the same commit', async () => {
    const side = createSide({ store: opened.store, tenantId: 'heads', policy: POLICY })
    let number = 0
    const run = async (...commands: Parameters<typeof side.execute>[0]) => {
      const results = await side.execute(commands, { now: NOW, number: ++number })
      return results.map((result) => (result.ok ? result.reply : result.error))
    }
    const create = async () => {
      const [reply] = await run({ kind: 'create', task: newTask(owner, { concurrencyKey: 'one' }) })
      return (reply as { taskId: string }).taskId
    }
    const claim = async () => ((await run(claimOf(worker))) as Claimed[])[0]!.grants

    await create()
    const [held] = await claim()
    const parked = (await Promise.all([create(), create()])).toSorted()
    const { taskId, leaseId } = held!.lease
    const actor = { principal: owner, sees: 'own' } as const
    await run(
      { kind: 'cancel', actor, taskId: parked[0]!, reason: null },
      completeOf({ worker, taskId, leaseId }),
    )
    expect((await claim()).map(({ lease }) => lease.taskId)).toEqual([parked[1]])
  })
})
