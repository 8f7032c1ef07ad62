// Every built clause is proved by a test that names it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BUILT } from './requirements.ts'

const ROOT = join(import.meta.dirname, '../../..', 'packages')

function testSources(): string[] {
  return readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
}

/** `verifies('X-1', …)` or `verifies(['X-1', 'Y-2'], …)`. */
function claimed(source: string): string[] {
  return [...source.matchAll(/\bverifies\(\s*(\[[^\]]*\]|'[^']*')/g)].flatMap((match) =>
    [...match[1]!.matchAll(/'([A-Z]+-\d+)'/g)].map((id) => id[1]!),
  )
}

test('no built clause is claimed by nobody', () => {
  const proved = new Set(testSources().flatMap(claimed))
  expect(Object.keys(BUILT).filter((clause) => !proved.has(clause))).toEqual([])
})
