// OpenAPI, examples and command lines say what the contract says.
import { contract, type Operation, parseInput, routeOf, wireName } from '@asyncgate/sdk'
import { describe, expect, test } from 'vitest'
import { curlText, describeOperation, typeText } from './describe.ts'
import { EXAMPLES } from './examples.ts'
import { openApi } from './openapi.ts'

interface PathItem {
  operationId: string
  parameters: { name: string; in: string; required: boolean }[]
  requestBody?: { content: { 'application/json': { schema: { properties: object } } } }
  responses: Record<string, { $ref?: string }>
}
const document = openApi({ version: '1.2.3' }) as unknown as {
  paths: Record<string, Record<string, PathItem>>
  components: { schemas: Record<string, object>; responses: Record<string, object> }
}

describe('every operation is described', () => {
  test.each(Object.entries(contract))('%s', (key, operation: Operation) => {
    const { method, path, pathFields } = routeOf(operation)
    const item = document.paths[path]?.[method.toLowerCase()]
    expect(item?.operationId).toBe(wireName(key))
    const inPath = item?.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
    expect(inPath).toEqual(pathFields)
    const fields = [
      ...(item?.parameters ?? []).map(({ name }) => name),
      ...Object.keys(item?.requestBody?.content['application/json'].schema.properties ?? {}),
    ]
    expect(fields.toSorted()).toEqual(Object.keys(operation.input.shape).toSorted())
    const described = JSON.stringify(item?.responses)
    for (const code of operation.errors) expect(described).toMatch(new RegExp(`[/.]${code}["\\.]`))
  })
})

test('every reference leads somewhere, and shared shapes are said once', () => {
  const text = JSON.stringify(document)
  for (const [, kind, name] of text.matchAll(/#\/components\/(schemas|responses)\/([\w.]+)/g)) {
    expect(Object.keys(document.components[kind as 'schemas' | 'responses'])).toContain(name)
  }
  expect(text.match(/"assigned_receipt_id":/g)).toHaveLength(1)
})

test.each(Object.entries(EXAMPLES))('the example of %s is valid input', (key, example) => {
  const operation: Operation = contract[key as keyof typeof contract]
  expect(() => parseInput(operation.input, example)).not.toThrow()
})

test('examples become command lines that a shell takes', () => {
  expect(curlText(describeOperation('getTask'))).toContain(
    "/v1/tasks/0197c5a4-7d2e-7c11-9d3a-5b2f4e8a1c01?wait_seconds=30'",
  )
  expect(curlText(describeOperation('createTask'))).toContain(`-d '{"type":"report.render"`)
})

test.each([
  [{ type: 'integer', minimum: 0, maximum: 60 }, 'integer (0 to 60)'],
  [{ type: 'integer', minimum: 1 }, 'integer (at least 1)'],
  [{ enum: ['a', 'b'] }, 'a | b'],
  [{ type: 'array', items: { type: 'string', format: 'uuid' } }, 'array of uuid'],
  [{}, 'any'],
])('%j reads as %s', (schema, text) => {
  expect(typeText(schema)).toBe(text)
})
