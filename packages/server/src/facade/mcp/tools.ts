// Operations as MCP tools: what is listed for whom, and what a call answers.
import {
  contract,
  type Effect,
  type ErrorBody,
  type GateError,
  type Operation,
  type OperationKey,
  wireName,
} from '@asyncgate/sdk'
import type { CallToolResult, Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import { type Caller, isAdmin } from '../../auth/caller.ts'
import { schemaOf } from '../schema.ts'
import { type ToolNames, toolName } from './names.ts'

const ANNOTATIONS: Readonly<Record<Effect, ToolAnnotations>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  write: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  idempotent: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  destructive: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}

type ToolBody = Omit<Tool, 'name'>
type ObjectSchema = Tool['inputSchema']

const ERROR_FIELDS = {
  error: { type: 'string', description: 'Only when the call failed: the code.' },
  message: { type: 'string', description: 'Only when the call failed: what to do.' },
  retryable: { type: 'boolean', description: 'Only when the call failed: whether repeating it can help.' },
}

/** Made once: turning schemas into JSON Schema is too slow for every request. */
const bodies = new Map((Object.keys(contract) as OperationKey[]).map((key) => [key, toolBody(key)]))

export function listTools(caller: Caller, names: ToolNames): Tool[] {
  return [...bodies]
    .filter(([key]) => isListed(contract[key], caller))
    .map(([key, body]) => ({ name: toolName(key, names), ...body }))
}

/** Only what the caller may use, and for agents and workers only what they need: short lists make good choices. */
function isListed({ scopes, listed }: Operation, caller: Caller): boolean {
  if (listed === 'admin' && !isAdmin(caller)) return false
  if (listed === 'tasker' && !caller.scopes.has('tasks:read')) return false
  return scopes.length === 0 || scopes.some((scope) => caller.scopes.has(scope))
}

function toolBody(key: OperationKey): ToolBody {
  const { summary, guide, effect, input, output }: Operation = contract[key]
  const words = wireName(key).replaceAll('_', ' ')
  return {
    title: words.charAt(0).toUpperCase() + words.slice(1),
    description: `${summary} ${guide}`,
    inputSchema: schemaOf(input, 'input') as ObjectSchema, // every input is an object: the contract's type says so
    outputSchema: withError(schemaOf(output, 'output') as ObjectSchema), // and so is every output
    annotations: ANNOTATIONS[effect],
  }
}

/** Official clients check the structured content of errors against the output schema too, so it must allow them. */
function withError(output: ObjectSchema): ObjectSchema {
  return {
    type: 'object',
    properties: { ...output.properties, ...ERROR_FIELDS },
    anyOf: [{ required: output.required ?? [] }, { required: Object.keys(ERROR_FIELDS) }],
  }
}

/** The text and the structure each say all of it: clients show their model one or the other. */
export function successResult(reply: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(reply) }], structuredContent: { ...reply } }
}

export function errorResult(error: GateError, requestId: string): CallToolResult {
  const body: ErrorBody = { ...error.body(), request_id: requestId }
  const content = [JSON.stringify(body), error.message].map((text) => ({ type: 'text' as const, text }))
  return { isError: true, content, structuredContent: body }
}
