// The way between clients and instances: requests are late, arrive twice, are sent again by a client that heard nothing;
// answers get lost; an instance that crashes answers nobody.
import { GateError } from '@asyncgate/sdk'
import type { ClaimCommand, Command } from '../../src/engine/command.ts'
import type { Result } from '../../src/engine/decide/index.ts'
import type { Chance } from './chance.ts'
import { taskOf } from './commands.ts'
import type { Instance } from './instance.ts'
import type { Diary } from './violation.ts'

export interface Request {
  readonly from: string
  readonly commands: readonly Command[]
  /** Set for a claim that may wait for work. */
  readonly waitMs?: number
  readonly onReply: (results: readonly Result[]) => void
  /** No answer came, or none that says what happened. */
  readonly onSilence?: () => void
}

interface Flight {
  readonly request: Request
  readonly instance: Instance
  readonly life: Instance['life']
  readonly abort: AbortController
}

export interface Network {
  /** Requests that were sent and have not arrived. */
  readonly underWay: readonly Request[]
  readonly flights: ReadonlySet<Flight>
  send(request: Request): void
  deliver(request: Request, instance: Instance): void
  /** The client closes the connection of a request that it waits for. */
  hangUp(flight: Flight): void
  /** Whoever waited for this instance hears nothing. */
  cut(life: Instance['life']): void
  /** Faults are over: nothing is lost, doubled or late any more. */
  calm: boolean
}

export interface NetworkParts {
  readonly tenantId: string
  readonly chance: Chance
  readonly diary: Diary
  readonly onReply: (request: Request, results: readonly Result[]) => void
  readonly onDefect: (error: unknown) => void
}

const UNDER_WAY_MAX = 20

export function createNetwork({ tenantId, chance, diary, onReply, onDefect }: NetworkParts): Network {
  const underWay: Request[] = []
  const flights = new Set<Flight>()

  function sendAgain(request: Request, likelihood: number, why: string): void {
    if (network.calm || underWay.length >= UNDER_WAY_MAX || !chance.percent(likelihood)) return
    diary.count(`request ${why}`)
    underWay.push(request)
  }

  function answered(flight: Flight, results: readonly Result[]): void {
    const { request } = flight
    if (!network.calm && chance.percent(5)) return silent(flight, 'answer lost')
    diary.note(`  → ${request.from}: ${results.map(resultText).join(', ')}`)
    for (const result of results) if (!result.ok) diary.count(`refusal ${result.error.code}`)
    onReply(request, results)
    request.onReply(results)
    sendAgain(request, 8, 'repeated after success')
  }

  function silent({ request }: Flight, why: string): void {
    diary.note(`  → ${request.from}: nothing (${why})`)
    diary.count(why)
    request.onSilence?.()
    // A claim without an answer is not the same claim when it is made again.
    if (request.commands.every((command) => command.kind !== 'claim')) {
      sendAgain(request, 60, 'sent again after silence')
    }
  }

  const network: Network = {
    underWay,
    flights,
    calm: false,
    send: (request) => underWay.push(request),
    deliver: (request, instance) => {
      const index = underWay.indexOf(request)
      if (index >= 0) underWay.splice(index, 1)
      sendAgain(request, 4, 'doubled on its way')
      const flight: Flight = { request, instance, life: instance.life, abort: new AbortController() }
      if (!instance.life.accepting) return silent(flight, 'connection refused')
      flights.add(flight)
      diary.note(`${request.from} → ${instance.name}: ${request.commands.map(commandText).join(', ')}`)
      ask(instance, request, { tenantId, signal: flight.abort.signal }).then(
        (results) => flights.delete(flight) && answered(flight, results),
        (error: unknown) => {
          if (!flights.delete(flight)) return
          if (error instanceof GateError) silent(flight, error.code)
          else onDefect(error)
        },
      )
    },
    hangUp: (flight) => {
      flights.delete(flight)
      diary.note(`${flight.request.from} hangs up on ${flight.instance.name}`)
      flight.abort.abort()
      flight.request.onSilence?.()
    },
    cut: (life) => {
      for (const flight of [...flights].filter((other) => other.life === life)) {
        flights.delete(flight)
        silent(flight, 'connection lost')
      }
    },
  }

  function commandText(command: Command): string {
    const taskId = taskOf(command)
    const lease = 'leaseId' in command ? ` under ${diary.alias(command.leaseId, 'lease')}` : ''
    return `${command.kind}${taskId === null ? '' : ` ${diary.alias(taskId, 'task')}`}${lease}`
  }

  function resultText(result: Result): string {
    if (!result.ok) return result.error.code
    const { taskId, grants } = (result.reply ?? {}) as { taskId?: string; grants?: { lease: GrantedLease }[] }
    if (taskId !== undefined) return diary.alias(taskId, 'task')
    if (grants === undefined) return 'ok'
    return `[${grants.map(({ lease }) => `${diary.alias(lease.taskId, 'task')} under ${diary.alias(lease.leaseId, 'lease')}`).join(', ')}]`
  }
  type GrantedLease = { taskId: string; leaseId: string }

  return network
}

async function ask(
  { engine }: Instance,
  { commands, waitMs }: Request,
  { tenantId, signal }: { tenantId: string; signal: AbortSignal },
): Promise<readonly Result[]> {
  if (waitMs === undefined) return engine.execute(tenantId, commands)
  const [claim] = commands as readonly ClaimCommand[] // only a claim waits, and it goes alone
  const grants = await engine.claim(tenantId, claim!, { waitMs, signal })
  return [{ ok: true, reply: { grants, again: false } }]
}
