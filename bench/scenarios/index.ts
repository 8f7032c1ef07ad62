// The scenarios by name.
import type { Scenario } from '../scenario.ts'
import { auth } from './auth.ts'
import { drain } from './drain.ts'
import { durability } from './durability.ts'
import { endToEnd, endToEndBatch } from './end-to-end.ts'
import { enqueueBatch } from './enqueue-batch.ts'
import { enqueue } from './enqueue.ts'
import { growth } from './growth.ts'
import { latency } from './latency.ts'
import { longReader } from './long-reader.ts'
import { mcp } from './mcp.ts'
import { obligations } from './obligations.ts'
import { reads } from './reads.ts'
import { steady } from './steady.ts'
import { waitingWorkers } from './waiting-workers.ts'
import { wal } from './wal.ts'

export const scenarios = {
  enqueue,
  'enqueue-batch': enqueueBatch,
  drain,
  'end-to-end': endToEnd,
  'end-to-end-batch': endToEndBatch,
  latency,
  'waiting-workers': waitingWorkers,
  mcp,
  auth,
  obligations,
  growth,
  reads,
  durability,
  wal,
  'long-reader': longReader,
  steady,
} satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof scenarios

export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(scenarios, name)
}

export function scenarioNames(): readonly (readonly [string, string])[] {
  return Object.entries(scenarios).map(([name, { about }]) => [name, about] as const)
}
