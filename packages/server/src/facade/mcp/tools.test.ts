// Which tools are listed for whom, and what each says of itself.
import { contract, type Operation, type Role, wireName } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { verifies } from '../../../test/requirements.ts'
import { callerWith } from '../../../test/facade-kit.ts'
import { DEFAULT_SCOPES } from '../../auth/roles.ts'
import { operationOf } from './names.ts'
import { listTools } from './tools.ts'

const withRole = (role: Role) => callerWith({ role, scopes: new Set(DEFAULT_SCOPES[role]) })
const namesFor = (role: Role) => listTools(withRole(role), 'underscore').map(({ name }) => name)

verifies('MCP-2', 'an agent sees what it may use, and only what it needs', () => {
  const names = namesFor('agent')
  expect(names).toContain('asyncgate_create_task')
  expect(names).toContain('asyncgate_open_obligations')
  expect(names).not.toContain('asyncgate_lease_next')
  expect(names).not.toContain('asyncgate_bootstrap')
  expect(names.length).toBeGreaterThanOrEqual(9)
  expect(names.length).toBeLessThanOrEqual(13)
})

verifies('MCP-2', 'a worker sees the lease operations', () => {
  const names = namesFor('worker')
  expect(names).toContain('asyncgate_lease_next')
  expect(names).not.toContain('asyncgate_create_task')
  expect(names).not.toContain('asyncgate_list_tasks')
})

const entries = Object.entries(contract) as [string, Operation][]
const namesWith = (role: Operation['role']) =>
  entries.filter(([, operation]) => operation.role === role).map(([key]) => `asyncgate_${wireName(key)}`)

test('an administrator sees every operation but those of operators, who see theirs', () => {
  expect(namesFor('admin').toSorted()).toEqual(namesWith(undefined).toSorted())
  expect(namesFor('operator').toSorted()).toEqual(namesWith('operator').toSorted())
})

verifies('MCP-7', 'both forms of every name are understood', () => {
  for (const key of Object.keys(contract)) {
    expect(operationOf(`asyncgate_${wireName(key)}`)).toBe(key)
    expect(operationOf(`asyncgate.${wireName(key)}`)).toBe(key)
  }
  expect(operationOf('create_task')).toBeUndefined()
})

verifies('MCP-3', 'annotations say what a call does', () => {
  const listed = [withRole('admin'), withRole('operator')].flatMap((who) => listTools(who, 'underscore'))
  const tools = new Map(listed.map((tool) => [tool.name, tool]))
  for (const [key, { effect }] of entries) {
    const { annotations } = tools.get(`asyncgate_${wireName(key)}`)!
    expect(annotations).toMatchObject({
      readOnlyHint: effect === 'read',
      destructiveHint: effect === 'destructive',
      openWorldHint: false,
    })
  }
})

verifies('MCP-3', 'every argument of every tool is described', () => {
  const listed = [withRole('admin'), withRole('operator')].flatMap((who) => listTools(who, 'underscore'))
  for (const { name, inputSchema } of listed) {
    const properties = (inputSchema.properties ?? {}) as Record<string, { description?: string }>
    for (const [field, { description }] of Object.entries(properties)) {
      expect([name, field, description]).toEqual([name, field, expect.stringMatching(/.{5,}/)])
    }
  }
})
