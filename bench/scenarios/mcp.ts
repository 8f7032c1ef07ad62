// What MCP costs: the same operations over both protocols, on one server, from the same client.
import type { PlainCall } from '../players/calling-player.ts'
import type { Figures, Scenario } from '../scenario.ts'
import { CALLERS } from './pair.ts'
import { openOwnGate, type OwnGate } from './own-gate.ts'

const VERSION = '2026-07-28'
const TASK = { type: 'bench', payload: { n: 1, at: 1 } }

export const mcp: Scenario = {
  about: `tools/call of MCP ${VERSION} against the same operation over REST, 32 callers at once`,
  count: 10_000,
  columns: [
    { name: 'create_task', unit: 'calls/s', better: 'more' },
    { name: 'get_task', unit: 'calls/s', better: 'more' },
    { name: 'open_obligations', unit: 'calls/s', better: 'more' },
  ],
  ratio: 'row ÷ first',
  order: 'alternating',
  goals: [
    { row: 'MCP', column: 'create_task', atLeast: 0.6 },
    { row: 'MCP', column: 'get_task', atLeast: 0.6 },
    { row: 'MCP', column: 'open_obligations', atLeast: 0.6 },
  ],
  rows: async (bench) => {
    const measure = async (
      callsOf: (taskId: string) => Readonly<Record<string, PlainCall>>,
    ): Promise<Figures> => {
      const gate = await openOwnGate(bench)
      try {
        return await ratesOf(gate, callsOf(await createOne(gate)), bench.count)
      } finally {
        await gate.close()
      }
    }
    return [
      { label: 'REST', measure: () => measure(overRest) },
      { label: `MCP ${VERSION}`, measure: () => measure(overMcp) },
    ]
  },
}

/** Of somebody else than who creates during the measurement, so that what is open stays one. */
const READER = { principal_kind: 'agent', principal_id: 'reader' }

async function createOne({ caller }: OwnGate): Promise<string> {
  const reply = await caller.ask('call', { path: '/v1/tasks', body: JSON.stringify({ ...TASK, ...READER }) })
  return (reply as { task_id: string }).task_id
}

async function ratesOf(
  { caller }: OwnGate,
  calls: Readonly<Record<string, PlainCall>>,
  count: number,
): Promise<Figures> {
  const figures: Record<string, number> = {}
  for (const [name, call] of Object.entries(calls)) {
    await caller.ask('repeat', { call, count: Math.ceil(count / 5), callers: CALLERS })
    const { startedAt, endedAt } = await caller.ask('repeat', { call, count, callers: CALLERS })
    figures[name] = (count * 1_000) / (endedAt - startedAt)
  }
  return figures
}

function overRest(taskId: string): Record<string, PlainCall> {
  return {
    create_task: { path: '/v1/tasks', body: JSON.stringify(TASK) },
    get_task: { path: `/v1/tasks/${taskId}` },
    open_obligations: { path: `/v1/obligations/open?${String(new URLSearchParams(READER))}` },
  }
}

function overMcp(taskId: string): Record<string, PlainCall> {
  return {
    create_task: toolCall('create_task', TASK),
    get_task: toolCall('get_task', { task_id: taskId }),
    open_obligations: toolCall('open_obligations', READER),
  }
}

/** As the official client of this generation writes it. */
function toolCall(operation: string, input: object): PlainCall {
  const name = `asyncgate_${operation}`
  const meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'asyncgate-bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name, arguments: input, _meta: meta }
  return {
    path: '/mcp',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
  }
}
