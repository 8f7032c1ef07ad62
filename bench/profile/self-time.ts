// Where a process spent its time, from the CPU profiles that Node wrote: the functions with the most time of their own.
//
//   node bench/profile/self-time.ts <folder or .cpuprofile> [rows]
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Waiting for something to do is not work. */
const IDLE = '(idle)'

export function summariseProfiles(path: string, rowsMax = 40): string {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.endsWith('.cpuprofile'))
        .map((name) => join(path, name))
    : [path]
  return files.map((file) => summarise(file, rowsMax)).join('\n\n')
}

function summarise(file: string, rowsMax: number): string {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const own = new Map<string, number>()
  profile.samples.forEach((id, at) => {
    const name = names.get(id) ?? '?'
    own.set(name, (own.get(name) ?? 0) + (profile.timeDeltas[at] ?? 0))
  })
  const idle = own.get(IDLE) ?? 0
  own.delete(IDLE)
  const busy = [...own.values()].reduce((sum, time) => sum + time, 0)
  const rows = [...own].toSorted((a, b) => b[1] - a[1]).slice(0, rowsMax)
  const seconds = (micros: number) => (micros / 1e6).toFixed(2)
  return [
    `${file}: busy ${seconds(busy)} s, idle ${seconds(idle)} s; share of the busy time by function:`,
    ...rows.map(([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(6)} %  ${name}`),
  ].join('\n')
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const place = url
    .replace(/^file:\/\//, '')
    .replace(/^.*\/node_modules\//, '')
    .replace(/^.*\/packages\//, '')
  return `${functionName || '(anonymous)'}${place ? `  ${place}:${lineNumber + 1}` : ''}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path, rows] = process.argv.slice(2)
  if (path === undefined) throw new Error('Say which profile: a folder or a .cpuprofile file.')
  process.stdout.write(`${summariseProfiles(path, rows === undefined ? undefined : Number(rows))}\n`)
}
