// JSON Schema for readers: what `format` and the safe integers say already is not said again in long patterns
// and bounds. Models pay for every word of a tool list.
import { jsonSchema, type Operation } from '@asyncgate/sdk'

export type JsonSchema = Readonly<Record<string, unknown>>

export function schemaOf(schema: Operation['input'], io: 'input' | 'output'): JsonSchema {
  return shorten(jsonSchema(schema, io)) as JsonSchema // the shape of what it was given
}

function shorten(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(shorten)
  if (node === null || typeof node !== 'object') return node
  const entries = Object.entries(node).filter(([key, value]) => !isRedundant(key, value, node))
  return Object.fromEntries(entries.map(([key, value]) => [key, shorten(value)]))
}

function isRedundant(key: string, value: unknown, node: object): boolean {
  if (key === 'pattern') return 'format' in node && typeof value === 'string'
  if (key === 'maximum') return value === Number.MAX_SAFE_INTEGER
  if (key === 'minimum') return value === Number.MIN_SAFE_INTEGER
  return false
}
