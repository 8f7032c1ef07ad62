// The rules of the repository that no compiler holds: who imports whom, where time and chance come from, how
// long a file may be. Change a list here when the design changes, and say why in the commit.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { expect, test } from 'vitest'

// A part imports itself and the parts above it, never one beside or below it. `sdk` is the package @asyncgate/sdk; every
// other name is a file or a folder of packages/server/src.
const order = [
  ['sdk'],
  ['clock', 'version', 'scheduler'], // a scheduler knows AsyncGate by its sdk alone
  ['ids', 'config'],
  ['log', 'metrics', 'egress'],
  ['engine'],
  ['store', 'channel'],
  ['auth', 'result'], // keys, and where results are, are kept in the store
  ['task-type'], // and so is the registry of types
  ['limits'],
  ['facade', 'service', 'worker'],
  ['gate'], // the composition root: the one place that knows every part
  ['cli', 'testing'],
]

// These packages, and nobody else's code, are the business of the parts named beside them.
const owners: Record<string, string[]> = {
  pg: ['store'],
  'node:sqlite': ['store', 'scheduler'],
  croner: ['scheduler'],
  fastify: ['facade', 'gate'],
  'node:http': ['auth', 'facade', 'gate', 'egress', 'sdk'],
  'node:https': ['egress', 'sdk'],
  'node:child_process': ['worker'],
  '@modelcontextprotocol/server': ['facade', 'cli'],
  pino: ['log'],
  'oidc-provider': ['facade'],
  jose: ['auth', 'facade'],
  'prom-client': ['metrics'],
  yaml: ['config'],
  ajv: ['task-type'],
  'ajv-formats': ['task-type'],
  'node:vm': ['task-type'],
  '@redis/client': ['limits'],
}

// All that a part may import from outside, where that is little: the engine decides purely, the sdk runs anywhere.
const outside: Record<string, string[]> = {
  // Of what is Node's own the types alone: see the test that bundles it for browsers.
  sdk: ['zod', 'node:worker_threads', 'node:http', 'node:https'],
  clock: [],
  scheduler: ['@asyncgate/sdk', 'zod', 'croner', 'node:sqlite', 'node:crypto'],
  engine: ['@asyncgate/sdk', 'node:assert', 'node:assert/strict', 'node:crypto'],
}

// Nothing is decided by the machine's own time, chance or environment, except through these files.
const ambient = ['Date.now(', 'new Date()', 'Math.random(', 'randomUUID(', 'process.env']
const ambientFiles = ['clock.ts', 'ids.ts', 'config.ts']

const linesMax = 350

const root = join(import.meta.dirname, '../../..')
const files = repositoryFiles()
const sources = files.filter((file) => /^packages\/(sdk|server)\/src\/.*\.ts$/.test(file))
const production = sources.filter((file) => !file.endsWith('.test.ts'))
const tests = files.filter(
  (file) => /^packages\/[^/]+\/(src|test)\/.*\.ts$/.test(file) && !production.includes(file),
)

test('every part has its place in the order', () => {
  const known = order.flat()
  expect(production.filter((file) => !known.includes(partOf(file)))).toEqual([])
})

test('a part imports leftwards only', () => {
  const wrong = production.flatMap((file) =>
    importedParts(file)
      .filter((part) => part !== partOf(file) && step(part) >= step(partOf(file)))
      .map((part) => `${file} (${partOf(file)}) imports ${part}`),
  )
  expect(wrong).toEqual([])
})

test('drivers and protocols are imported by their owners alone', () => {
  const wrong = production.flatMap((file) =>
    imports(file)
      .filter((name) => owners[packageOf(name)]?.includes(partOf(file)) === false)
      .map((name) => `${file} imports ${name}, which belongs to ${owners[packageOf(name)]?.join(' and ')}`),
  )
  expect(wrong).toEqual([])
})

test('the engine and the sdk import next to nothing from outside', () => {
  const wrong = production.flatMap((file) =>
    imports(file)
      .filter((name) => !name.startsWith('.') && outside[partOf(file)]?.includes(name) === false)
      .map((name) => `${file} imports ${name}`),
  )
  expect(wrong).toEqual([])
})

test('time, chance and the environment come from clock, ids and config', () => {
  const wrong = production
    .filter((file) => !ambientFiles.includes(basename(file)))
    .flatMap((file) => ambient.filter((text) => code(file).includes(text)).map((text) => `${file}: ${text}`))
  expect(wrong).toEqual([])
})

test(`source files stay under ${linesMax} lines`, () => {
  const long = sources.map((file) => ({ file, lines: read(file).split('\n').length - 1 }))
  expect(long.filter(({ lines }) => lines >= linesMax)).toEqual([])
})

test('every source file opens with a comment on its part in the whole', () => {
  expect(sources.filter((file) => !/^(#!.*\n)?(\/\/|\/\*)/.test(read(file)))).toEqual([])
})

test('no test is skipped, singled out or left for later', () => {
  const pattern = /\b(test|it|describe|suite)(\.\w+)*\.(skip|skipIf|runIf|only|todo)\b/
  expect(tests.filter((file) => pattern.test(code(file)))).toEqual([])
})

test('nothing is left for later in a comment', () => {
  const pattern = /\b(TO[D]O|FIX[M]E|XX[X])\b/
  expect(textFiles().filter((file) => pattern.test(read(file)))).toEqual([])
})

test('no file names a package registry or a folder of the machine it was written on', () => {
  const registry = /registry\.(npm|yarn)|"resolved": "[a-z+]+:/
  const folder = /(^|[^\w./-])\/(work|root)\/\w/m
  const wrong = textFiles().filter((file) => registry.test(read(file)) || folder.test(read(file)))
  expect(wrong).toEqual([])
})

/** Which part of the whole a file is: `sdk`, or the first name below packages/server/src. */
function partOf(file: string): string {
  if (file.startsWith('packages/sdk/')) return 'sdk'
  return file.split('/')[3]?.replace(/\.ts$/, '') ?? ''
}

function step(part: string): number {
  return order.findIndex((parts) => parts.includes(part))
}

function importedParts(file: string): string[] {
  return imports(file).flatMap((name) => {
    if (packageOf(name) === '@asyncgate/sdk') return ['sdk']
    if (!name.startsWith('.')) return []
    return [
      partOf(
        relative(root, join(root, dirname(file), name))
          .split(sep)
          .join('/'),
      ),
    ]
  })
}

/** Static, dynamic and type imports, and re-exports. */
function imports(file: string): string[] {
  const pattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])([^'"\n]+)\1/g
  return [...code(file).matchAll(pattern)].map((match) => match[2] ?? '')
}

/** `@scope/name/path` → `@scope/name`; what Node brings keeps its whole name. */
function packageOf(name: string): string {
  if (name.startsWith('node:')) return name
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** A file without its comments. */
function code(file: string): string {
  return read(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
}

function textFiles(): string[] {
  return files.filter((file) => !read(file).includes('\0'))
}

/** What git tracks or would track. Outside of a git checkout: every file that is neither installed nor built. */
function repositoryFiles(): string[] {
  const ignored = (name: string) => ['node_modules', 'dist', '.git'].includes(basename(name))
  const list = existsSync(join(root, '.git'))
    ? execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).split(
        '\n',
      )
    : globSync('**', { cwd: root, exclude: ignored }).map((file) => file.split(sep).join('/'))
  return list.filter((file) => file !== '' && statSync(join(root, file), { throwIfNoEntry: false })?.isFile())
}
