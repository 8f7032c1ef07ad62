// What the kernel says of a process: memory and processor time. Linux only, like the figures in our documents.
import { readFileSync } from 'node:fs'

/** The kernel counts in ticks of a hundredth of a second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(match?.[1] ?? 0) * 1_024
}

/** User and system time since the process began. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in brackets may hold spaces; fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
