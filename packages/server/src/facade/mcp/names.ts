// Tool names: `asyncgate_create_task` or `asyncgate.create_task` is what is shown, both are understood (MCP-2).
import { contract, type OperationKey, wireName } from '@asyncgate/sdk'

export type ToolNames = 'underscore' | 'dotted'

const keysByName = new Map<string, OperationKey>()
for (const key of Object.keys(contract) as OperationKey[]) {
  keysByName.set(toolName(key, 'underscore'), key).set(toolName(key, 'dotted'), key)
}

export function toolName(key: OperationKey, names: ToolNames): string {
  return `asyncgate${names === 'dotted' ? '.' : '_'}${wireName(key)}`
}

export function operationOf(name: string): OperationKey | undefined {
  return keysByName.get(name)
}
