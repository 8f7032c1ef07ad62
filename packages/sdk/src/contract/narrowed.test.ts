// Which inputs share a schema; that it says what the whole one says is tested with every operation, in the server's narrowed-input.test.ts.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { narrowedTo } from './narrowed.ts'

// One for each test: what it has been narrowed to is remembered, up to a limit.
const whole = () =>
  z.strictObject({
    type: z.string(),
    payload: z.unknown(),
    summary: z.string().optional(),
    priority: z.int().optional(),
    tag: z.string().optional(),
  })

test('members in any order are one set, and what is not optional is no matter', () => {
  const schema = whole()
  const narrowed = narrowedTo(schema, { type: 'a', summary: 'b', priority: 1 })
  expect(narrowed).not.toBe(schema)
  expect(narrowedTo(schema, { priority: 2, summary: 'c', type: 'd' })).toBe(narrowed)
  expect(narrowedTo(schema, { summary: 'b', payload: {}, priority: 1 })).toBe(narrowed)
  expect(narrowedTo(schema, { type: 'a', summary: 'b' })).not.toBe(narrowed)
})

test('it is the whole schema for what is no plain object', () => {
  const schema = whole()
  for (const value of [null, 'text', [], Object.create({ summary: 'inherited' })]) {
    expect(narrowedTo(schema, value)).toBe(schema)
  }
})
