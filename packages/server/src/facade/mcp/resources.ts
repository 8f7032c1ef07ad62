// Tasks, receipts and obligations as MCP resources: the same reads as the tools, under addresses.
import { GateError, type OperationKey } from '@asyncgate/sdk'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/server'

export type Call = (key: OperationKey, input: unknown) => Promise<object>

const JSON_TYPE = 'application/json'
export const OBLIGATIONS_URI = 'asyncgate://obligations'

export const RESOURCES: ListResourcesResult = {
  resources: [
    {
      uri: OBLIGATIONS_URI,
      name: 'obligations',
      title: 'Open obligations',
      description: 'What is still owed to you, proved by the ledger.',
      mimeType: JSON_TYPE,
    },
  ],
}

export const RESOURCE_TEMPLATES: ListResourceTemplatesResult = {
  resourceTemplates: [
    {
      uriTemplate: 'asyncgate://task/{id}',
      name: 'task',
      title: 'Task',
      description: 'One task: status, progress, and its result once it has ended.',
      mimeType: JSON_TYPE,
    },
    {
      uriTemplate: 'asyncgate://receipt/{id}',
      name: 'receipt',
      title: 'Receipt',
      description: 'One receipt with the chain that it belongs to.',
      mimeType: JSON_TYPE,
    },
  ],
}

export async function readResource(uri: string, call: Call): Promise<ReadResourceResult> {
  const read = readerOf(uri)
  if (!read) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri })
  try {
    const reply = await call(read.key, read.input)
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(reply) }] }
  } catch (error) {
    if (error instanceof GateError) throw toProtocolError(error, uri)
    throw error
  }
}

function readerOf(uri: string): { key: OperationKey; input: object } | undefined {
  if (uri === OBLIGATIONS_URI) return { key: 'openObligations', input: {} }
  const [, kind, id] = /^asyncgate:\/\/(task|receipt)\/([^/?#]+)$/.exec(uri) ?? []
  if (kind === 'task') return { key: 'getTask', input: { task_id: id } }
  if (kind === 'receipt') return { key: 'getReceipt', input: { receipt_id: id } }
  return undefined
}

/** JSON-RPC has few codes of its own; ours travels as data. */
export function toProtocolError(error: GateError, uri?: string): ProtocolError {
  const code = error.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(code, error.message, { ...error.body(), ...(uri !== undefined && { uri }) })
}
