// Tasks that an earlier version ended: their rows say everything themselves, and a completion was told from another by a hash
// of all that the worker had said.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { CompleteCommand } from '../../src/engine/command.ts'
import { hashOfJson } from '../../src/engine/ledger.ts'
import type { Settlement } from '../../src/engine/model.ts'
import { createSqliteStore } from '../../src/store/sqlite/index.ts'
import { complete, createRig } from './rig.ts'

test('what an earlier version ended is read as it was, and its completion may be repeated', async () => {
  const { store, raw } = await openSqlite()
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

async function openSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-ended-'))
  const path = join(folder, 'gate.db')
  const store = await createSqliteStore({ path })
  await store.migrate()
  const raw = new DatabaseSync(path)
  onTestFinished(async () => {
    raw.close()
    await store.close()
    await rm(folder, { recursive: true })
  })
  return { store, raw }
}
