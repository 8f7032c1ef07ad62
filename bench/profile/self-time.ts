// Where a process spent its time, from the CPU profiles that Node wrote: by area, by the function of ours that asked for the
// work, and by the function that did it.
//
//   node bench/profile/self-time.ts <folder or .cpuprofile> [rows]
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly children?: readonly number[]
}

interface CpuProfile {
  readonly nodes: readonly Node[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** What a sample is counted under, given the node and those that called it, nearest first. */
type Naming = (node: Node, callers: readonly Node[]) => string

/** Waiting for something to do is not work. */
const IDLE = '(idle)'

const AREAS: readonly (readonly [RegExp, string])[] = [
  [/canonical-json|engine\/ledger|internal\/crypto/, 'canonical JSON and hashes'],
  [/packages\/server\/src\/engine/, 'engine'],
  [/packages\/server\/src\/store/, 'store'],
  [/packages\/server\/src\/facade|packages\/sdk/, 'facade and contract'],
  [/packages\/server/, 'other of ours'],
  [/node_modules\/(pg|pg-\w+|postgres-\w+)\//, 'pg driver'],
  [/node_modules\/zod/, 'zod'],
  [/node_modules\/(pino|sonic-boom|safe-stable|atomic-sleep|quick-format)/, 'log'],
  [/node_modules\/(prom-client|tdigest|bintrees)/, 'metrics'],
  [/node_modules\/@modelcontextprotocol/, 'MCP SDK'],
  [/node_modules\/(fastify|@fastify|find-my-way|light-my|avvio|secure-json|fast-json)/, 'fastify'],
  [
    /node:(_http|internal\/http|http|net|internal\/net|internal\/stream|stream|internal\/streams|events)/,
    'node: HTTP and sockets',
  ],
  [
    /node:(internal\/deps\/undici|internal\/webstreams|internal\/abort|internal\/event_target)/,
    'node: web APIs',
  ],
  [/node:internal\/(modules|bootstrap|deps\/(amaro|cjs|minimatch))/, 'start: loading code'],
]

const byArea: Naming = (node, callers) => {
  if (node.callFrame.functionName === '(garbage collector)') return 'garbage collector'
  for (const { callFrame } of [node, ...callers]) {
    const area = AREAS.find(([pattern]) => pattern.test(callFrame.url))
    if (area) return area[1]
  }
  return 'other of Node'
}

const byOurFunction: Naming = (node, callers) =>
  nameOf([node, ...callers].find(({ callFrame }) => callFrame.url.includes('/packages/')) ?? node)

const byFunction: Naming = (node) => nameOf(node)

export function summariseProfiles(path: string, rowsMax = 30): string {
  const files = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path]
  // Besides profiles the folder may hold what the database says of its own time.
  const show = (file: string) =>
    file.endsWith('.txt') ? readFileSync(file, 'utf8') : summarise(file, rowsMax)
  return files.map(show).join('\n\n')
}

function summarise(file: string, rowsMax: number): string {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  const times = new Map<number, number>()
  profile.samples.forEach((id, at) => times.set(id, (times.get(id) ?? 0) + (profile.timeDeltas[at] ?? 0)))
  const isIdle = ({ callFrame }: Node) => callFrame.functionName === IDLE
  const idle = sum(profile.nodes.filter(isIdle).map(({ id }) => times.get(id) ?? 0))
  const busy = sum([...times.values()]) - idle
  const nodes = profile.nodes.filter((node) => !isIdle(node))
  const callersOf = createCallers(profile.nodes)

  function shares(naming: Naming): string[] {
    const total = new Map<string, number>()
    for (const node of nodes) {
      const name = naming(node, callersOf(node))
      total.set(name, (total.get(name) ?? 0) + (times.get(node.id) ?? 0))
    }
    const rows = [...total].toSorted((a, b) => b[1] - a[1]).slice(0, rowsMax)
    return rows
      .filter(([, time]) => time > 0)
      .map(([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(6)} %  ${name}`)
  }

  const seconds = (micros: number) => (micros / 1e6).toFixed(2)
  return [
    `${file}: busy ${seconds(busy)} s, idle ${seconds(idle)} s. Shares of the busy time`,
    ...['by area:', ...shares(byArea)],
    ...['by the function of ours that asked for it:', ...shares(byOurFunction)],
    ...['by function:', ...shares(byFunction)],
  ].join('\n')
}

function createCallers(nodes: readonly Node[]): (node: Node) => readonly Node[] {
  const parents = new Map(
    nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)),
  )
  return (node) => {
    const callers: Node[] = []
    for (let at = parents.get(node.id); at !== undefined; at = parents.get(at.id)) callers.push(at)
    return callers
  }
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const place = url.replace(/^file:\/\//, '').replace(/^.*\/(node_modules|packages)\//, '')
  return `${functionName || '(anonymous)'}${place ? `  ${place}:${lineNumber + 1}` : ''}`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path, rows] = process.argv.slice(2)
  if (path === undefined) throw new Error('Say which profile: a folder or a .cpuprofile file.')
  process.stdout.write(`${summariseProfiles(path, rows === undefined ? undefined : Number(rows))}\n`)
}
