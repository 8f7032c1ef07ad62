// What templates put in, and what they leave alone.
import { expect, test } from 'vitest'
import { render } from './template.ts'

const WORDS = { now: 'NOW', run_at: 'RUN', schedule_id: 'ID' }

test('words are put in wherever there is text, and nothing else is touched', () => {
  const template = {
    a: '{{now}}',
    b: ['from {{ run_at }} for {{schedule_id}}', 7, null, true],
    '{{now}}': { c: '{{run_at}}{{run_at}}', d: '{{name}} {now} {{ now' },
    __proto__x: '{{ now}}',
  }
  expect(render(template, WORDS)).toEqual({
    a: 'NOW',
    b: ['from RUN for ID', 7, null, true],
    '{{now}}': { c: 'RUNRUN', d: '{{name}} {now} {{ now' },
    __proto__x: 'NOW',
  })
})

test('what is put in is not read again', () => {
  expect(render({ a: '{{schedule_id}}' }, { ...WORDS, schedule_id: '{{now}}$&' })).toEqual({ a: '{{now}}$&' })
})
