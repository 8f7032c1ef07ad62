// The official MCP conformance suite against /mcp, for both protocol generations, each with a reasoned list of what does not
// apply.
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'

const runner = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js')
let gate: RunningGate

beforeAll(async () => {
  gate = await startGate(
    configOf({ port: 0, database: { url: 'memory:' }, auth: { mode: 'dev' }, log: { level: 'silent' } }),
  )
})
afterAll(() => gate.stop())

test.each(['2025-11-25', '2026-07-28'])(
  'what applies of the suite for %s passes',
  { timeout: 120_000 },
  async (version) => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        ...[runner, 'server', '--url', `${gate.url}/mcp`, '--suite', 'all', '--spec-version', version],
        ...['--expected-failures', join(import.meta.dirname, 'mcp-conformance', `${version}.yaml`)],
      ],
      { maxBuffer: 10_000_000 },
    )
    expect(stdout).toMatch(/tools-list: \d passed, 0 failed/)
    expect(stdout).not.toMatch(/Unexpected failures|Stale baseline/i)
  },
)
