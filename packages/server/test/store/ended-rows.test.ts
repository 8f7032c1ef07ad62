// Tasks that an earlier version ended: their rows say everything themselves, and a completion was told from another by a hash
// of all that the worker had said.
import { expect, test } from 'vitest'
import type { CompleteCommand } from '../../src/engine/command.ts'
import { hashOfJson } from '../../src/engine/ledger.ts'
import type { Settlement } from '../../src/engine/model.ts'
import { openBehindSqlite } from './behind-sqlite.ts'
import { complete, createRig, POLICY } from './rig.ts'

test('what an earlier version ended is read as it was, and its completion may be repeated', async () => {
  const { store, raw } = await openBehindSqlite()
  const rig = createRig(store)
  await rig.create()
  const [grant] = await rig.claim()
  const command = complete(grant!) as CompleteCommand // it makes one
  const reply = await rig.ask<Settlement['reply']>(command)
  const { taskId } = grant!.lease
  const before = (await store.readTask(rig.tenantId, taskId))!

  const { worker: _worker, taskId: _task, leaseId: _lease, ...said } = command
  const settlement: Settlement = {
    action: 'complete',
    requestHash: hashOfJson(said),
    reply,
    receiptId: String(reply['receiptId']),
  }
  const update = raw.prepare('update ended set result = ?, settlement = ? where task_id = ?')
  const { changes } = update.run(JSON.stringify(before.state.result), JSON.stringify(settlement), taskId)
  expect(changes).toBe(1)

  expect(await store.readTask(rig.tenantId, taskId)).toEqual(before)
  expect(await rig.ask(command)).toEqual(reply)
  await expect(rig.ask({ ...command, resultSummary: 'another' })).rejects.toThrow('already settled')
})

test('a completion may be repeated when receipts may hold more or less than before', async () => {
  const { store } = await openBehindSqlite()
  const limited = (maxBodyBytes: number) => ({ ...POLICY, receipts: { ...POLICY.receipts, maxBodyBytes } })
  for (const [before, after] of [
    [65_536, 4_096],
    [4_096, 65_536],
  ] as const) {
    const rig = createRig(store, { policy: limited(before) })
    await rig.create()
    const [grant] = await rig.claim()
    const command = { ...complete(grant!), result: 'x'.repeat(10_000) } as CompleteCommand // it makes one
    const reply = await rig.ask(command)
    const later = createRig(store, { policy: limited(after), tenantId: rig.tenantId })
    expect(await later.ask(command)).toEqual(reply)
    await expect(later.ask({ ...command, result: 'y'.repeat(10_000) })).rejects.toThrow('already settled')
  }
})
