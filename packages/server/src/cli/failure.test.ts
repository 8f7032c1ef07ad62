// What a refusal advises.
import { GateError } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { explainFailure } from './failure.ts'

const nextAfter = (message: string) => explainFailure(new GateError('not_found', message), {}).next

test('what the server does not serve may be asked for under an address with a path', () => {
  const refused = 'There is no GET /v1/v1/tasks. GET /docs lists what there is.'
  expect(nextAfter(refused)).toContain('without a path')
})

test('of something else that is missing the message says enough', () => {
  expect(nextAfter('No task type "nope".')).toBeUndefined()
})
