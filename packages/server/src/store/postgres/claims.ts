// How a claim finds its tasks in PostgreSQL: index-ordered looks, one for each lane and accepted type, each
// of which locks what it takes and passes over what another instance has locked. So instances take different
// tasks, without waiting.
import type { ClaimNeed } from '../../engine/unit.ts'
import type { Task } from '../../engine/model.ts'
import { definitionColumns, definitionFromRow, type DefinitionRow } from '../sql/definition-row.ts'
import { QUEUED_STATE, queuedFromRow, type QueuedRow } from '../sql/queued-row.ts'
import { type Offer, type Query, query, type Session, type Value, type Words } from '../sql/session.ts'
import { textArray } from './binary-array.ts'
import { createFloors, type Floors, type Stretch, WHOLE } from './floors.ts'

/** It always holds. The index says it too, so that a look for types cannot end up there. */
const ANY_TYPE = "r.type > ''"

/** Once it is locked: whoever else has claimed, moved or ended the task meanwhile has taken its row or said so in it. */
const READY = "s.tenant_id = $1 and s.task_id = r.task_id and s.place = 'ready'"

const HEAD = 'r.neg_priority, r.task_id'

/** In its turn or out of it. */
const EITHER = '(values (false), (true)) as o(out_of_turn)'

/** `$2` are a worker's capabilities. */
export const MATCHING_LANES = query(
  'matching_lanes',
  () => 'select l.lane from lanes l where l.tenant_id = $1 and l.capabilities <@ $2::text[]',
)

const OF_ONE_TYPE = 'r.type = $7'
export const READY_OF_ONE_TYPE = lookingAtOne('ready_of_one_type', OF_ONE_TYPE)
export const READY_OF_ONE_LANE = lookingAtOne('ready_of_one_lane', ANY_TYPE)
export const BEST_OF_ONE_TYPE = mergingOne('best_of_one_type', OF_ONE_TYPE)
export const BEST_OF_ONE_LANE = mergingOne('best_of_one_lane', ANY_TYPE)

/** What is ready in one lane, of one type or any; in its turn, from the stretches that may hold any ($4 to $6, see floors.ts). */
function lookAt(ofType: string) {
  const fits = `r.tenant_id = $1 and r.lane = $2 and ${ofType} and r.place = 'ready'`
  return {
    outOfTurn: `${fits} and r.out_of_turn = true`,
    inTurn: (look: { columns: string; limit: string; and?: string; locking?: string }) => `
      select h.*
      from unnest($4::int[], $5::uuid[], $6::int[]) as g(from_priority, from_id, to_priority)
      cross join lateral (
        select ${look.columns} from queued r
        where ${fits} and r.out_of_turn = false and (r.neg_priority, r.task_id) >= (g.from_priority, g.from_id)
          and r.neg_priority <= g.to_priority ${look.and ?? ''}
        order by r.neg_priority, r.task_id
        limit ${look.limit}
        ${look.locking ?? ''}
      ) as h
      limit ${look.limit}`,
  }
}

/**
 * Where there is one lane and one type, or any, and nothing is out of turn, there is nothing to merge: each task is locked as it
 * comes. The first row is what was seen: what stands first in its turn, and whether anything is out of turn; in the others it would
 * be the same, and cost as much again for each. Whether there are others is asked in an order, since that names the index: `exists`
 * leaves the choice to what the table looked like when the plan was made.
 */
function lookingAtOne(name: string, ofType: string): Query {
  const { inTurn, outOfTurn } = lookAt(ofType)
  return query(
    name,
    (words) => `
    with others as materialized (
      select (select true from queued r where ${outOfTurn} order by ${HEAD} limit 1) is not null as are
    )
    select seen.*, free.*
    from (values (true), (false)) as part(is_sight)
    left join lateral (
      select f.neg_priority as first_priority, f.task_id as first_id, (select are from others) as others,
        floor(date_part('epoch', statement_timestamp()) * 1000)::bigint as looked_at,
        date_part('epoch', clock_timestamp() - statement_timestamp()) * 1000 as took_ms
      from (select 1) as always
      left join (${inTurn({ columns: HEAD, limit: '1' })}) as f on true
      where part.is_sight
    ) as seen on true
    left join lateral (
      select ${definitionColumns(words)}, ${QUEUED_STATE}, s.neg_priority, s.address
      from (${inTurn({
        columns: `r.*, ${words.address('r')} as address`,
        limit: '$3',
        and: 'and not part.is_sight and not (select are from others)',
        locking: words.passingOverLocked,
      })}) as s
      ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = s.task_id')}
    ) as free on true`,
  )
}

/**
 * The best of what is in its turn and what is not, merged without locks: to lock as many of each would hide them from other
 * instances until the commit. `known` counts what was merged.
 */
function mergingOne(name: string, ofType: string): Query {
  const { inTurn, outOfTurn } = lookAt(ofType)
  return query(
    name,
    (words) => `
    with best as materialized (
      select h.task_id
      from (
        (${inTurn({ columns: HEAD, limit: '$3' })})
        union all
        (select ${HEAD} from queued r where ${outOfTurn} order by ${HEAD} limit $3)
      ) as h
      order by h.neg_priority, h.task_id
      limit $3
    )
    ${freeAmongBest(words)}`,
  )
}

export const READY_OF_TYPES = merging('ready_of_types', {
  looks: `select l.lane, w.type, o.out_of_turn
      from lanes l cross join unnest($5::text[]) as w(type) cross join ${EITHER}
      where l.tenant_id = $1 and l.capabilities <@ $2::text[]`,
  fits: "r.tenant_id = $1 and r.lane = k.lane and r.type = k.type and r.place = 'ready'",
  order: 'h.neg_priority, h.type <> all ($6::text[]), h.task_id',
})

export const READY_OF_ANY_TYPE = merging('ready_of_any_type', {
  looks: `select l.lane, o.out_of_turn
      from lanes l cross join ${EITHER}
      where l.tenant_id = $1 and l.capabilities <@ $2::text[]`,
  fits: `r.tenant_id = $1 and r.lane = k.lane and ${ANY_TYPE} and r.place = 'ready'`,
  order: 'h.neg_priority, h.task_id',
})

/**
 * All looks are merged first, without locks, as far as the best `$3`: to lock that many in each would hide them from other
 * instances until the commit. Of these, `$4` that nobody holds. `known` counts what was merged; one row comes even if nothing is free.
 */
function merging(name: string, of: { looks: string; fits: string; order: string }): Query {
  return query(
    name,
    (words) => `
    with looks as materialized (
      ${of.looks}
    ),
    best as materialized (
      select h.task_id
      from looks k
      cross join lateral (
        select r.neg_priority, r.type, r.task_id from queued r
        where ${of.fits} and r.out_of_turn = k.out_of_turn
        order by r.neg_priority, r.task_id
        limit $3
      ) as h
      order by ${of.order}
      limit $3
    )
    ${freeAmongBest(words, 'limit $4')}`,
  )
}

/** One row comes even if nothing is free. */
function freeAmongBest(words: Words, limit = ''): string {
  return `select (select count(*) from best)::int as known, free.*
    from (select 1) as always
    left join lateral (
      select ${definitionColumns(words)}, ${QUEUED_STATE}, cast(null as text) as address
      from best r ${words.findFree('queued', 's', READY)}
      ${words.find('tasks', 't', 't.tenant_id = $1 and t.task_id = s.task_id')}
      ${limit}
    ) as free on true`
}

/** Forgotten beyond this: lanes that are looked up again cost a little, a map that only grows costs memory. */
const WORKERS_REMEMBERED_MAX = 10_000

type Select = (session: Session, tenantId: string, claim: ClaimNeed) => Promise<Offer>

/**
 * Most tenants have one lane that a worker is up to, so that is tried, with a look at the lanes beside it; if there are
 * others by now, the claim looks everywhere.
 */
export function createClaims(): Select {
  const soleLanes = new Map<string, string>()
  const floors = createFloors()

  return async (session, tenantId, claim) => {
    const able = textArray(claim.filter.capabilities)
    const key = `${tenantId}\n${able}`
    const sole = soleLanes.get(key)
    const tried = sole === undefined ? null : tryOne(session, { tenantId, able, claim, lane: sole, floors })
    const [lanes, offer] = await Promise.all([
      session.all<{ lane: string }>(MATCHING_LANES, [tenantId, able]),
      tried ?? selectAmongAll(session, { tenantId, able, claim }),
    ])
    const now = lanes.length === 1 ? lanes[0]!.lane : undefined
    if (now === sole) return offer
    if (soleLanes.size > WORKERS_REMEMBERED_MAX) soleLanes.clear()
    if (now === undefined) soleLanes.delete(key)
    else soleLanes.set(key, now)
    return tried === null ? offer : selectAmongAll(session, { tenantId, able, claim })
  }
}

interface Claiming {
  readonly tenantId: string
  readonly able: string
  readonly claim: ClaimNeed
}

interface InOneLane extends Claiming {
  readonly lane: string
  readonly floors: Floors
}

type SightRow = FreeRow & {
  readonly first_priority: number | null
  readonly first_id: string | null
  readonly others: boolean
  readonly looked_at: number
  readonly took_ms: number
  readonly neg_priority: number | null
}

/** Null: there are several types to look at. */
function tryOne(session: Session, claiming: InOneLane): Promise<Offer> | null {
  const { acceptTypes, preferredTypes } = claiming.claim.filter
  if (acceptTypes === null ? preferredTypes.length > 0 : acceptTypes.length !== 1) return null
  return lookAtOne(session, claiming, acceptTypes?.[0] ?? null)
}

async function lookAtOne(session: Session, claiming: InOneLane, type: string | null): Promise<Offer> {
  const { tenantId, lane, claim, floors } = claiming
  const queue = `${tenantId}\n${lane}\n${type ?? ''}`
  const stretches = floors.stretchesOf(queue)
  const list = (member: keyof Stretch) => `{${stretches.map((stretch) => stretch[member]).join()}}`
  const where: Value[] = [
    tenantId,
    lane,
    claim.count,
    list('fromPriority'),
    list('fromId'),
    list('toPriority'),
  ]
  if (type !== null) where.push(type)
  const rows = await session.all<SightRow>(type === null ? READY_OF_ONE_LANE : READY_OF_ONE_TYPE, where)
  const { first_priority, first_id, others, looked_at, took_ms } = rows[0]!
  const first = first_id === null ? null : { negPriority: first_priority!, taskId: first_id }
  const negPriorities = rows.flatMap((row) => row.neg_priority ?? [])
  floors.saw(queue, { stretches, first, negPriorities, lookedAt: looked_at, tookMs: took_ms })
  if (others) {
    const best = await session.all<BestRow>(type === null ? BEST_OF_ONE_LANE : BEST_OF_ONE_TYPE, where)
    const { known } = best[0]!
    const tasks = freeOf(best)
    // Some of the best are held, and there may be more.
    if (tasks.length < claim.count && known === claim.count) return selectAmongAll(session, claiming)
    return { tasks, held: tasks.length === 0 && known > 0 }
  }
  const tasks = freeOf(rows)
  // Nobody has claimed for a while: by the clock of then there was no reason to look at the whole.
  const isDue = stretches !== WHOLE && floors.isWholeDue(queue)
  if (tasks.length === 0 && isDue) return lookAtOne(session, claiming, type)
  return { tasks, held: tasks.length === 0 && first !== null }
}

/**
 * Preferred types are looked at by themselves too: in their priority they come before older tasks of other
 * types.
 */
async function selectAmongAll(session: Session, { tenantId, able, claim }: Claiming): Promise<Offer> {
  const { acceptTypes, preferredTypes } = claim.filter
  const types = acceptTypes ?? preferredTypes
  const ofTypes = [textArray(types), textArray(preferredTypes)]
  const offers = await Promise.all([
    ...(types.length === 0
      ? []
      : [bestFree(session, READY_OF_TYPES, { tenantId, able, claim, more: ofTypes })]),
    ...(acceptTypes === null
      ? [bestFree(session, READY_OF_ANY_TYPE, { tenantId, able, claim, more: [] })]
      : []),
  ])
  const tasks = offers.flatMap((offer) => offer.tasks)
  return { tasks, held: tasks.length === 0 && offers.some(({ held }) => held) }
}

type FreeRow = QueuedRow & DefinitionRow
type BestRow = FreeRow & { readonly known: number }

/** One row comes even if nothing is free. */
function freeOf(rows: readonly FreeRow[]): Task[] {
  return rows.filter((row) => row.task_id !== null).map((row) => queuedFromRow(row, definitionFromRow(row)))
}

type Look = Claiming & { readonly more: readonly string[] }

/** Where some of the best are held by other transactions, more are merged: each time at least four times as many. */
async function bestFree(session: Session, of: Query, { tenantId, able, claim, more }: Look): Promise<Offer> {
  for (let asked = claim.count; ; asked = Math.max(asked * 4, FURTHER_MIN)) {
    const rows = await session.all<BestRow>(of, [tenantId, able, asked, claim.count, ...more])
    const tasks = freeOf(rows)
    const known = rows[0]?.known ?? 0
    if (tasks.length >= claim.count || known < asked) {
      return { tasks, held: tasks.length === 0 && known > 0 }
    }
  }
}

/** Instances take tasks by the hundred. */
const FURTHER_MIN = 100
