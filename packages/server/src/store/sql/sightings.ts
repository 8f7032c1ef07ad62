// Several sightings of one principal in one batch, folded into one row: a statement may touch each row once.
import type { Sighting } from '../../engine/model.ts'
import type { SightingRow } from './statements/principals.ts'

/** Without an instance id, half an hour of silence makes a new session. */
const SESSION_SILENCE_MS = 30 * 60 * 1_000

/** Sorted, so that two instances that see the same principals wait for each other in one order. */
export function foldSightings(sightings: readonly Sighting[]): SightingRow[] {
  const groups = Map.groupBy(sightings, ({ principal }) => `${principal.kind}/${principal.id}`)
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, seen]) => fold(seen))
}

function fold(seen: readonly Sighting[]): SightingRow {
  const [first] = seen as readonly [Sighting, ...Sighting[]] // groups are never empty
  const named = seen.flatMap(({ instanceId }) => instanceId ?? [])
  return {
    kind: first.principal.kind,
    id: first.principal.id,
    seen_at: first.at,
    silent: first.instanceId === null,
    instance_id: named[0] ?? null,
    last_instance_id: named.at(-1) ?? null,
    more: named.filter((name, index) => index > 0 && name !== named[index - 1]).length,
    silence_ms: SESSION_SILENCE_MS,
  }
}
