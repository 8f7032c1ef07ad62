// What the kernel says of processes: memory and processor time. Linux only, like the figures in our documents.
import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts in ticks of a hundredth of a second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(match?.[1] ?? 0) * 1_024
}

interface Process {
  readonly pid: number
  readonly parent: number
  /** User and system time, of itself and of the children that have ended. */
  readonly seconds: number
}

/** Of a process and all that it started, since they began. */
export function processorSeconds(pid: number): number {
  const children = Map.groupBy(processes(), ({ parent }) => parent)
  const own = processes().find((process) => process.pid === pid)
  const total = ({ pid: id, seconds }: Process): number =>
    (children.get(id) ?? []).reduce((sum, child) => sum + total(child), seconds)
  return own === undefined ? 0 : total(own)
}

/** The process whose command line ends so. */
export function findProcess(commandEnd: string): number | undefined {
  return processes().find(({ pid }) =>
    read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trimEnd().endsWith(commandEnd),
  )?.pid
}

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = read(`/proc/${name}/stat`)
      if (stat === '') return []
      // The name in brackets may hold spaces; fields are counted after it.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0)
      return [{ pid: Number(name), parent: fields[1] ?? 0, seconds: ticks / TICKS_PER_SECOND }]
    })
}

/** A process may end while it is looked at. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
