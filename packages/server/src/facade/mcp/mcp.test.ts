// The official clients against the real server, over HTTP and stdio.
import { join } from 'node:path'
import { GateError } from '@asyncgate/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifies } from '../../../test/requirements.ts'
import { authorized, createTestApp, TASK_ID } from '../../../test/facade-kit.ts'
import { CREATED, OBLIGATIONS } from '../../../test/facade-replies.ts'
import { CLIENTS, type McpClient, type Target, type ToolResult } from '../../../test/mcp-clients.ts'

const { app, seen } = createTestApp({
  createTask: () => CREATED,
  openObligations: () => OBLIGATIONS,
  getTask: () => {
    throw new GateError('not_found', 'No such task. Check the id.')
  },
})
let url = ''
beforeAll(async () => {
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

const fixture = join(import.meta.dirname, '../../../test/mcp-stdio-fixture.ts')
const transports: [string, () => Target][] = [
  ['HTTP', () => ({ url: `${url}/mcp`, headers: authorized })],
  ['stdio', () => ({ command: process.execPath, args: [fixture] })],
]
const pairs = transports.flatMap(([where, target]) =>
  CLIENTS.map(([who, connect]) => ({ who, where, target, connect })),
)

describe.each(pairs)('MCP-1: $who over $where', ({ target, connect }) => {
  let client: McpClient
  beforeAll(async () => {
    client = await connect(target())
  })
  afterAll(() => client.close())
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args })) as ToolResult

  verifies('MCP-1', 'lists the tools with what a model needs', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['asyncgate_create_task', 'asyncgate_settle']),
    )
    for (const tool of tools)
      expect(tool).toMatchObject({ description: expect.any(String), outputSchema: { type: 'object' } })
    expect(client.getInstructions()).toContain('asyncgate_open_obligations')
  })

  verifies('MCP-3', 'calls a tool by either name; text and structure each say all', async () => {
    await client.listTools() // so that the client checks results against the output schema
    for (const name of ['asyncgate_create_task', 'asyncgate.create_task']) {
      const result = await call(name, { type: 't', payload: { a: 1 } })
      expect(result.isError ?? false).toBe(false)
      expect(result.structuredContent).toEqual(CREATED)
      expect(JSON.parse(result.content[0]!.text!)).toEqual(CREATED)
    }
  })

  verifies('MCP-3', 'a tool that needs no arguments is called without any', async () => {
    const result = (await client.callTool({ name: 'asyncgate_open_obligations' })) as ToolResult
    expect(result.structuredContent).toEqual(OBLIGATIONS)
  })

  verifies('MCP-3', 'a refusal is a result with the error object and the fix', async () => {
    await client.listTools()
    const result = await call('asyncgate_get_task', { task_id: TASK_ID })
    expect(result.isError).toBe(true)
    const body = { error: 'not_found', message: 'No such task. Check the id.', retryable: false }
    expect(result.structuredContent).toMatchObject({ ...body, request_id: expect.any(String) })
    expect(JSON.parse(result.content[0]!.text!)).toEqual(result.structuredContent)
    expect(result.content[1]!.text).toBe(body.message)
  })

  test.each([
    ['an unknown field', { type: 't', status: 'done' }, 'status'],
    ['a wrong type', { type: 7 }, 'type'],
    ['a NUL', { type: 't', payload: { a: '\0' } }, 'payload.a'],
    ['a lone surrogate', { type: 't', payload: { a: '\ud800' } }, 'payload.a'],
    ['__proto__', JSON.parse('{"type":"t","payload":{"__proto__":1}}'), 'payload'],
    ['__proto__ at the top', JSON.parse('{"type":"t","__proto__":1}'), ''],
  ])('%s is invalid_input, as over REST', async (_what, args, field) => {
    const result = await call('asyncgate_create_task', args as Record<string, unknown>)
    expect(result.isError).toBe(true)
    expect(result.structuredContent).toMatchObject({ error: 'invalid_input', field })
  })

  verifies('MCP-3', 'an unknown tool is a JSON-RPC error', async () => {
    await expect(call('asyncgate_no_such_tool')).rejects.toMatchObject({ code: -32602 })
  })

  verifies('MCP-5', 'resources: list, templates, read, and what is not there', async () => {
    expect((await client.listResources()).resources).toMatchObject([{ uri: 'asyncgate://obligations' }])
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'asyncgate://task/{id}',
      'asyncgate://receipt/{id}',
    ])
    const read = await client.readResource({ uri: 'asyncgate://obligations' })
    expect(read.contents).toMatchObject([{ mimeType: 'application/json', text: JSON.stringify(OBLIGATIONS) }])
    const uri = `asyncgate://task/${TASK_ID}`
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code: -32602,
      data: { error: 'not_found', uri },
    })
    await expect(client.readResource({ uri: 'asyncgate://nothing' })).rejects.toMatchObject({ code: -32602 })
  })

  verifies('MCP-5', 'the bootstrap prompt carries what is open', async () => {
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'bootstrap' }])
    const { messages } = await client.getPrompt({ name: 'bootstrap', arguments: { principal_id: 'bob' } })
    expect(JSON.stringify(messages)).toContain('open_obligations')
    await expect(client.getPrompt({ name: 'other' })).rejects.toMatchObject({ code: -32602 })
  })
})

test('what a client calls over HTTP reaches the handler with its request id', () => {
  expect(seen.find(({ key }) => key === 'createTask')).toMatchObject({
    input: { type: 't', payload: { a: 1 } },
    context: { requestId: expect.stringMatching(/^id-/), acting: { kind: 'agent', id: 'default' } },
  })
})
