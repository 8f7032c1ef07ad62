// A server over HTTP with channels in folders of its own, on a clock that the test moves, and the steps that tests of results
// share.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@asyncgate/sdk'
import { type ConfigValues, configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { openTestStore, type StoreKind } from './stores.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

export interface ResultRig {
  readonly gate: RunningGate
  readonly client: Client
  readonly clock: VirtualClock
  readonly folder: string
  /** Creates a task of a type of its own and claims it. */
  hold(worker_id?: string, more?: object): Promise<Held>
  /** Claims a task of that type. */
  claim(type: string, worker_id: string): Promise<Held>
  /** The files in a channel's folder, but for what is under way. */
  files(channel: 'blob' | 'file'): Promise<string[]>
  close(): Promise<void>
}

export interface Held {
  readonly worker_id: string
  readonly task_id: string
  readonly lease_id: string
}

export const KEY = 'the-key-of-the-results-tests'
let types = 0

export async function openResultRig(
  kind: StoreKind = 'memory',
  channels: NonNullable<ConfigValues['channels']> = {},
): Promise<ResultRig> {
  const opened = await openTestStore(kind)
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-results-'))
  const clock = createVirtualClock()
  const config = configOf({
    port: 0,
    database: { url: 'memory:' }, // the store is given; this says that nothing stands beside it
    auth: { api_key: KEY },
    log: { level: 'silent' },
    channels: { blob_path: join(folder, 'blob'), file_path: join(folder, 'file'), ...channels },
  })
  const gate = await startGate(config, { store: { ...opened.store, close: async () => {} }, clock })
  const client = createClient({ url: gate.url, apiKey: KEY, retry: false })

  async function claim(type: string, worker_id: string): Promise<Held> {
    const { tasks } = await client.leaseNext({ worker_id, accept_types: [type] })
    return { worker_id, task_id: tasks[0]!.task_id, lease_id: tasks[0]!.lease_id }
  }

  return {
    gate,
    client,
    clock,
    folder,
    claim,
    async hold(worker_id = 'w1', more = {}) {
      const type = `results-${(types += 1)}`
      await client.createTask({ type, ...more })
      return claim(type, worker_id)
    },
    files: async (channel) => {
      const names = await readdir(join(folder, channel), { recursive: true, withFileTypes: true }).catch(
        () => [],
      )
      return names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    },
    async close() {
      await gate.stop()
      await opened.dispose()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export async function bytesIn(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}
