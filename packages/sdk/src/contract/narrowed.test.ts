// Which inputs share a schema; that it says what the whole one says is tested with every operation, in the server's narrowed-input.test.ts.
import { expect, test } from 'vitest'
import { narrowedTo } from './narrowed.ts'
import { NewTask } from './new-task.ts'

test('members in any order are one set, and what is not optional is no matter', () => {
  const schema = narrowedTo(NewTask, { type: 'a', summary: 'b', priority: 1 })
  expect(narrowedTo(NewTask, { priority: 2, summary: 'c', type: 'd' })).toBe(schema)
  expect(narrowedTo(NewTask, { summary: 'b', payload: {}, priority: 1 })).toBe(schema)
  expect(narrowedTo(NewTask, { type: 'a', summary: 'b' })).not.toBe(schema)
})

test('it is the whole schema for what is no plain object', () => {
  for (const value of [null, 'text', [], Object.create({ summary: 'inherited' })]) {
    expect(narrowedTo(NewTask, value)).toBe(NewTask)
  }
})
