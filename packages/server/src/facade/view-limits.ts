// Limits between the wire and the inside; 0 is unlimited on both sides.
import type { GateContract, Output, Parsed } from '@asyncgate/sdk'
import type { Limits } from '../store/tenants.ts'

type WireLimits = Output<GateContract['limitTenant']>['limits']
type WireFigures = Omit<Parsed<GateContract['limitTenant']>, 'tenant_id' | 'tier'>

const NAMES: Readonly<Record<keyof Limits, keyof WireLimits>> = {
  callsPerHour: 'calls_per_hour',
  principalCallsPerHour: 'principal_calls_per_hour',
  tasksPerHour: 'tasks_per_hour',
  activeTasks: 'active_tasks',
  concurrentLeases: 'concurrent_leases',
  payloadBytes: 'payload_bytes',
  receiptBytes: 'receipt_bytes',
}

const PAIRS = Object.entries(NAMES) as [keyof Limits, keyof WireLimits][]

export function limitsToWire(limits: Limits): WireLimits {
  // Every name of the one has its name of the other.
  return Object.fromEntries(PAIRS.map(([inside, wire]) => [wire, limits[inside]])) as WireLimits
}

/** Only those that were given. */
export function limitsFromWire(figures: WireFigures): Partial<Limits> {
  return Object.fromEntries(
    PAIRS.flatMap(([inside, wire]) => (figures[wire] === undefined ? [] : [[inside, figures[wire]]])),
  )
}
