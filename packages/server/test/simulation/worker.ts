// Workers lease and report. They pause and come back as zombies, act late on leases they have lost, report twice, and now and
// then try a lease that is not theirs.
import type { ClaimCommand, Command, Holding, LeaseCommand } from '../../src/engine/command.ts'
import type { Claimed } from '../../src/engine/decide/index.ts'
import type { Principal } from '../../src/engine/model.ts'
import { CAPABILITIES, TYPES } from './agent.ts'
import type { Chance } from './chance.ts'
import { claimOf, completeOf, failOf } from './commands.ts'
import type { Request } from './network.ts'

export interface Worker {
  readonly principal: Principal
  readonly capabilities: readonly string[]
  readonly acceptTypes: readonly string[] | null
  readonly capacity: number | null
  paused: boolean
  claiming: boolean
  /** What it believes to hold. */
  held: Holding[]
  /** What it once held. */
  readonly past: Holding[]
}

export function createWorker(id: string, chance: Chance): Worker {
  return {
    principal: { kind: 'worker', id },
    capabilities: CAPABILITIES.filter(() => chance.percent(60)),
    acceptTypes: chance.percent(60) ? null : TYPES.filter(() => chance.percent(60)),
    capacity: chance.percent(40) ? chance.between(1, 3) : null,
    paused: false,
    claiming: false,
    held: [],
    past: [],
  }
}

export function workerRequest(
  worker: Worker,
  of: { chance: Chance; others: readonly Worker[] },
): Request | null {
  const { chance, others } = of
  const kind = chance.weighted({
    claim: worker.claiming ? 0 : 6,
    act: worker.held.length > 0 ? 10 : 0,
    settle: worker.held.length > 0 && !worker.claiming ? 3 : 0,
    late: 1,
    steal: 1,
  })
  if (kind === 'claim') return claimRequest(worker, chance)
  if (kind === 'settle') return settleRequest(worker, chance)
  const from = { act: worker.held, late: worker.past, steal: others.flatMap(({ held }) => held) }[kind]
  if (from.length === 0) return null
  const { taskId, leaseId } = chance.pick(from)
  const command = report({ worker: worker.principal, taskId, leaseId }, chance)
  return request(worker, [command])
}

function claimRequest(worker: Worker, chance: Chance): Request {
  worker.claiming = true
  return {
    ...request(worker, [someClaim(worker, chance)]),
    waitMs: chance.percent(40) ? chance.between(1, 20_000) : 0,
  }
}

function someClaim({ principal, capabilities, acceptTypes, capacity }: Worker, chance: Chance): ClaimCommand {
  return claimOf(principal, {
    capabilities,
    acceptTypes,
    capacity,
    preferredTypes: chance.percent(30) ? [chance.pick(TYPES)] : [],
    maxTasks: chance.between(1, 3),
    ttlSeconds: chance.pick([null, 10, 15, 30]),
  })
}

/** Several outcomes and the next claim in one commit. */
function settleRequest(worker: Worker, chance: Chance): Request {
  const held = worker.held.filter(() => chance.percent(70))
  const outcomes: Command[] = held.map((holding) => report(holding, chance))
  const claim = chance.percent(70) ? [someClaim(worker, chance)] : []
  if (claim.length > 0) worker.claiming = true
  return request(
    worker,
    outcomes.length + claim.length > 0 ? [...outcomes, ...claim] : [report(worker.held[0]!, chance)],
  )
}

function request(worker: Worker, commands: readonly Command[]): Request {
  const claims = commands.some((command) => command.kind === 'claim')
  const silence = () => {
    if (claims) worker.claiming = false
  }
  return {
    from: worker.principal.id,
    commands,
    onReply: (results) => {
      silence()
      for (const [index, result] of results.entries()) learn(worker, commands[index]!, result)
    },
    onSilence: silence,
  }
}

function learn(worker: Worker, command: Command, result: { ok: boolean; reply?: unknown }): void {
  if (command.kind === 'claim') {
    if (!result.ok) return
    const { grants } = result.reply as Claimed // the reply of a claim
    for (const { lease } of grants) {
      const { taskId, leaseId } = lease
      worker.held.push({ worker: worker.principal, taskId, leaseId })
    }
    return
  }
  const lasting = command.kind === 'start' || command.kind === 'progress' || command.kind === 'renew'
  if (!('leaseId' in command) || (result.ok && lasting)) return
  const over = worker.held.filter((holding) => holding.leaseId === command.leaseId)
  worker.held = worker.held.filter((holding) => holding.leaseId !== command.leaseId)
  worker.past.push(...over)
}

function report(holding: Holding, chance: Chance): LeaseCommand {
  const kind = chance.weighted({ start: 2, progress: 3, renew: 3, complete: 6, fail: 3, release: 1 })
  switch (kind) {
    case 'start':
      return { kind, ...holding }
    case 'progress':
      return { kind, ...holding, progress: { percent: chance.below(100) } }
    case 'renew':
      return { kind, ...holding, extendBySeconds: chance.pick([null, 10, 30]) }
    case 'release':
      return { kind, ...holding, reason: chance.pick([null, 'cannot do it']) }
    case 'fail':
      return failOf(holding, {
        retryable: chance.percent(75),
        retryAfterSeconds: chance.percent(25) ? chance.between(0, 30) : null,
      })
    case 'complete':
      return completeOf(holding, someResult(chance))
  }
}

/** Kept by the gate, kept elsewhere, delivered, or nobody knows where. */
function someResult(chance: Chance) {
  const result = { answer: chance.below(1_000) }
  const kept = chance.weighted({ stored: 4, artifact: 3, delivered: 1, unlocated: 2 })
  return {
    result,
    storeResult: kept === 'stored',
    artifacts: kept === 'artifact' ? [{ type: 'file', path: `/results/${result.answer}` }] : [],
    deliveryProof:
      kept === 'delivered' ? { mode: 'http', target: 'https://example.test', status: 'ok' } : null,
  }
}
