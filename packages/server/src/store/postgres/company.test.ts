// Whether an instance is alone, from what it hears.
import { expect, test } from 'vitest'
import { createCompany } from './company.ts'

test('a newcomer does not believe to be alone', () => {
  const company = createCompany()
  company.hearOwnBeat()
  company.hearOwnBeat()
  expect([company.isKnown(), company.isAlone()]).toEqual([false, false])
})

test('who hears itself three times and nobody else is alone', () => {
  const company = createCompany()
  for (let beat = 0; beat < 3; beat += 1) company.hearOwnBeat()
  expect([company.isKnown(), company.isAlone()]).toEqual([true, true])
})

test('one word of another ends it at once, and the count begins anew', () => {
  const company = createCompany()
  for (let beat = 0; beat < 5; beat += 1) company.hearOwnBeat()
  company.hearOther()
  company.hearOwnBeat()
  company.hearOwnBeat()
  expect([company.isKnown(), company.isAlone()]).toEqual([true, false])
  company.hearOwnBeat()
  expect(company.isAlone()).toBe(true)
})

test('who hears others between its own beats is never alone', () => {
  const company = createCompany()
  for (let beat = 0; beat < 10; beat += 1) {
    company.hearOwnBeat()
    company.hearOwnBeat()
    company.hearOther()
    expect(company.isAlone()).toBe(false)
  }
})
