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
/** Short, and in turns: what a call costs here differs by a third from one minute to the next. */
const SLICES = 30
const WARM_UP_SLICES = 6

export const auth: Scenario = {
  about:
    'what authentication adds to a request that does nothing (get_config), beside a server that asks for none',
  count: 60_000,
  columns: [
    { name: 'CPU of the server', unit: 'µs/call', better: 'less' },
    { name: 'without credentials', unit: 'µs/call', better: 'less' },
    { name: 'share of authentication', unit: '%', better: 'less' },
  ],
  ratio: 'row ÷ first',
  order: 'alternating',
  rows: async (bench) => [
    { label: 'shared key', measure: () => measure(bench, ({ key }) => key) },
    { label: 'API key', measure: () => measure(bench, createKey) },
  ],
}

async function measure(
  bench: Bench,
  keyOf: (server: GateServer) => string | Promise<string>,
): Promise<Figures> {
  const [open, asking] = [await startSide(bench, 'dev', () => ''), await startSide(bench, 'keys', keyOf)]
  try {
    for (let slice = 0; slice < WARM_UP_SLICES + SLICES; slice += 1) {
      const isCounted = slice >= WARM_UP_SLICES
      for (const side of slice % 2 === 0 ? [open, asking] : [asking, open]) await side.run(isCounted)
    }
    const [without, withKey] = [open.microsPerCall(), asking.microsPerCall()]
    return {
      'CPU of the server': withKey,
      'without credentials': without,
      'share of authentication': ((withKey - without) / withKey) * 100,
    }
  } finally {
    for (const side of [open, asking]) await side.stop()
  }
}

async function startSide(
  { lab, count }: Bench,
  mode: 'dev' | 'keys',
  keyOf: (server: GateServer) => string | Promise<string>,
) {
  const server = await startGateServer(lab, { database: 'memory:', env: { ASYNCGATE_AUTH_MODE: mode } })
  const caller = startPlayer<CallingActs>(lab, 'calling-player')
  await caller.ask('open', { url: server.url, key: await keyOf(server) } satisfies GateAddress)
  const calls = Math.ceil(count / SLICES)
  let seconds = 0
  return {
    run: async (isCounted: boolean) => {
      const before = processorSeconds(server.pid)
      await caller.ask('repeat', { call: NOTHING, count: calls, callers: CALLERS })
      if (isCounted) seconds += processorSeconds(server.pid) - before
    },
    microsPerCall: () => (seconds * 1e6) / (calls * SLICES),
    stop: async () => {
      await caller.stop()
      await server.stop()
    },
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
