// The machine that the figures come from: absolute figures mean nothing without it.
import { cpus, totalmem } from 'node:os'

export interface Machine {
  readonly node: string
  readonly processor: string
  readonly cores: number
  readonly memoryGib: number
  readonly postgres?: string
}

export function describeMachine(): Machine {
  const processors = cpus()
  return {
    node: process.versions.node,
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
  }
}
