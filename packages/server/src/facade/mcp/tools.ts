// Operations as MCP tools: what is listed for whom, and what a call answers.
import {
  contract,
  type Effect,
  type ErrorBody,
  GateError,
  type Operation,
  type OperationKey,
  wireName,
} from '@asyncgate/sdk'
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import { type Caller, isAdmin } from '../../auth/caller.ts'
import type { Admission } from '../../limits/limiter.ts'
import type { Origin } from '../audit.ts'
import type { Dispatch } from '../dispatch.ts'
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
function isListed({ scopes, role, listed }: Operation, caller: Caller): boolean {
  if (role !== undefined) return caller.role === role
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

/** The first text is the structured content as JSON. */
export type ToolResult = {
  readonly isError?: true
  readonly content: { type: 'text'; text: string }[]
  readonly structuredContent: Record<string, unknown>
}

export interface CallFacts {
  readonly caller: Caller
  readonly requestId: string
  readonly origin: Origin
  readonly signal: AbortSignal
  readonly admission?: Admission | undefined
}

export async function callTool(
  key: OperationKey,
  input: unknown,
  dispatch: Dispatch,
  facts: CallFacts,
): Promise<ToolResult> {
  try {
    return successResult(await dispatch(key, input, facts))
  } catch (error) {
    if (error instanceof GateError) return errorResult(error, facts.requestId)
    throw error
  }
}

/** The text and the structure each say all of it: clients show their model one or the other. */
function successResult(reply: object): ToolResult {
  return { content: [textOf(JSON.stringify(reply))], structuredContent: { ...reply } }
}

function errorResult(error: GateError, requestId: string): ToolResult {
  const body: ErrorBody = { ...error.body(), request_id: requestId }
  const content = [textOf(JSON.stringify(body)), textOf(error.message)]
  return { isError: true, content, structuredContent: body }
}

function textOf(text: string): ToolResult['content'][number] {
  return { type: 'text', text }
}

/** The members of a result as JSON, without encoding the structured content a second time. */
export function resultMembers({ content, isError }: ToolResult): string {
  const members = `"content":${JSON.stringify(content)},"structuredContent":${content[0]!.text}`
  return isError ? `${members},"isError":true` : members
}
