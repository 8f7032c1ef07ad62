// What it costs to know the caller: a request that does nothing else, with each kind of credential, beside a server that
// asks for none.
import type { GateAddress } from '../contenders/gate-client.ts'
import { type GateServer, startGateServer } from '../lab/gate-server.ts'
import { startPlayer } from '../lab/player.ts'
import { processorSeconds } from '../lab/process-figures.ts'
import type { CallingActs } from '../players/calling-player.ts'
import type { Bench, Figures, Scenario } from '../scenario.ts'
import { CALLERS } from './pair.ts'

const NOTHING = { path: '/v1/config' }
const WARM_UP_SHARE = 0.5

export const auth: Scenario = {
  about: 'what authentication adds to a request that does nothing (get_config)',
  count: 40_000,
  columns: [
    { name: 'calls', unit: 'calls/s', better: 'more' },
    { name: 'CPU of the server', unit: 'µs/call', better: 'less' },
  ],
  ratio: 'row ÷ first',
  order: 'alternating',
  goals: [{ row: 'API key', column: 'CPU of the server', atMost: 1.05 }],
  rows: async (bench) => [
    { label: 'no credential', measure: () => measure(bench, { mode: 'dev', keyOf: () => '' }) },
    { label: 'shared key', measure: () => measure(bench, { mode: 'keys', keyOf: ({ key }) => key }) },
    { label: 'API key', measure: () => measure(bench, { mode: 'keys', keyOf: createKey }) },
  ],
}

interface Way {
  readonly mode: 'dev' | 'keys'
  readonly keyOf: (server: GateServer) => string | Promise<string>
}

async function measure({ lab, count }: Bench, { mode, keyOf }: Way): Promise<Figures> {
  const server = await startGateServer(lab, { database: 'memory:', env: { ASYNCGATE_AUTH_MODE: mode } })
  const caller = startPlayer<CallingActs>(lab, 'calling-player')
  try {
    await caller.ask('open', { url: server.url, key: await keyOf(server) } satisfies GateAddress)
    await caller.ask('repeat', { call: NOTHING, count: Math.ceil(count * WARM_UP_SHARE), callers: CALLERS })
    const before = processorSeconds(server.pid)
    const { startedAt, endedAt } = await caller.ask('repeat', { call: NOTHING, count, callers: CALLERS })
    return {
      calls: (count * 1_000) / (endedAt - startedAt),
      'CPU of the server': ((processorSeconds(server.pid) - before) * 1e6) / count,
    }
  } finally {
    await caller.stop()
    await server.stop()
  }
}

async function createKey({ url, key }: GateServer): Promise<string> {
  const reply = await fetch(`${url}/v1/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ role: 'agent', principal: { principal_kind: 'agent', principal_id: 'bench' } }),
  })
  const { api_key: created } = (await reply.json()) as { api_key?: string }
  if (created === undefined) throw new Error(`no key: ${reply.status}`)
  return created
}
