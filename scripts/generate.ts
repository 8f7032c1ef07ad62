// Writes what is derived from the code and committed beside it. With --check it writes nothing and fails when a
// file is not what it should be.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cliReference } from '../packages/server/src/cli/reference.ts'
import { configurationReference } from '../packages/server/src/config/reference.ts'
import { openApi } from '../packages/server/src/facade/openapi.ts'
import { errorsReference, operationsReference } from '../packages/server/src/facade/reference.ts'
import { sdkReference } from './sdk-reference.ts'
import server from '../packages/server/package.json' with { type: 'json' }

interface Generator {
  readonly path: string
  readonly make: () => string
}

const generators: readonly Generator[] = [
  { path: 'docs/reference/openapi.json', make: () => `${JSON.stringify(openApi(server), null, 2)}\n` },
  { path: 'docs/reference/operations.md', make: operationsReference },
  { path: 'docs/reference/errors.md', make: errorsReference },
  { path: 'docs/reference/configuration.md', make: configurationReference },
  { path: 'docs/reference/cli.md', make: cliReference },
  { path: 'docs/reference/sdk.md', make: sdkReference },
]

const root = dirname(import.meta.dirname)
const stale = generators
  .map(({ path, make }) => ({ path, text: make() }))
  .filter(({ path, text }) => read(path) !== text)

if (!process.argv.includes('--check')) {
  for (const { path, text } of stale) write(path, text)
} else if (stale.length > 0) {
  console.error(`Not up to date: ${stale.map(({ path }) => path).join(', ')}. Run: npm run generate`)
  process.exitCode = 1
}

function read(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(`wrote ${path}`)
}
