// Several sightings of one principal in one batch, folded into one.
import type { Sighting } from '../../engine/model.ts'
import type { Seen } from './statements/principals.ts'

/** Sorted, so that two instances that see the same principals wait for each other in one order. */
export function foldSightings(sightings: readonly Sighting[]): Seen[] {
  const groups = Map.groupBy(sightings, ({ principal }) => `${principal.kind}/${principal.id}`)
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, seen]) => fold(seen))
}

function fold(seen: readonly Sighting[]): Seen {
  const [first] = seen as readonly [Sighting, ...Sighting[]] // groups are never empty
  const named = seen.flatMap(({ instanceId }) => instanceId ?? [])
  return {
    kind: first.principal.kind,
    id: first.principal.id,
    seenAt: first.at,
    silent: first.instanceId === null,
    instanceId: named[0] ?? null,
    lastInstanceId: named.at(-1) ?? null,
    more: named.filter((name, index) => index > 0 && name !== named[index - 1]).length,
  }
}
