// Schedulers on a gate within the process, driven step by step on a clock that the test moves. Each can be killed before or after
// any call to the server and any step in its file; it comes back on the same file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client, FatalError, WorkerLog } from '@asyncgate/sdk'
import { openScheduleFile, type ScheduleFile } from '../src/scheduler/file.ts'
import { createScheduleLedger } from '../src/scheduler/ledger.ts'
import { createRequests, type Requests } from '../src/scheduler/requests.ts'
import { createRound } from '../src/scheduler/round.ts'
import { CreateSchedule, ListSchedules, NamedSchedule } from '../src/scheduler/schedule.ts'
import { createTestGate, type TestGate } from '../src/testing/index.ts'

export const START = '2026-03-27T06:30:00.000Z'
export const HOURLY = {
  name: 'hourly',
  mode: 'cron',
  cron_expr: '0 * * * *',
  task_template: { type: 'job' },
} as const

export class Killed extends Error {}

const SCHEMAS = { create: CreateSchedule, list: ListSchedules } as const
const REQUESTS = ['create', 'pause', 'resume', 'delete', 'status', 'list'] as const
const silent: WorkerLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export interface Node {
  /** Takes requests until there are none. */
  serve(): Promise<void>
  /** Rounds until nothing is due. */
  tick(): Promise<void>
  close(): void
}

export interface NodeParts {
  readonly gate: TestGate
  readonly path: string
  readonly schedulerId?: string
  /** Between the scheduler and the server. */
  readonly between?: (client: Client) => Partial<Client>
  /** Called before and after each step; throws `Killed` from some step on. */
  readonly fate?: () => void
  /** How far the clock of its machine is ahead of the server's. */
  readonly aheadMs?: () => number
}

export function openNode({
  gate,
  path,
  schedulerId = 'scheduler',
  between,
  fate = () => {},
  aheadMs = () => 0,
}: NodeParts): Node {
  const clock = { now: () => gate.clock.now() + aheadMs() }
  const client = mortal({ ...gate.client, ...between?.(gate.client) }, fate)
  const open = openScheduleFile(path, clock.now())
  const file: ScheduleFile = mortal(open, fate)
  const ledger = createScheduleLedger({ client, schedulerId, file, onOtherLedger: () => {} })
  const round = createRound({ client, file, ledger, clock, log: silent })
  const requests = createRequests({ client, schedulerId, file, ledger, onChange: () => {} })
  let isOpen = true
  const worker = { worker_id: schedulerId, worker_kind: 'service' } as const
  return {
    serve: async () => {
      const accept_types = REQUESTS.map((kind) => `schedule.${kind}`)
      for (;;) {
        const { tasks } = await client.leaseNext({ ...worker, accept_types, lease_ttl_seconds: 10 })
        if (tasks.length === 0) return
        const { task_id, lease_id } = tasks[0]!
        const outcome = await answer(requests, tasks[0]!)
        const held = { ...worker, task_id, lease_id }
        if ('result' in outcome) await client.complete({ ...held, ...outcome, store_result: true })
        else await client.fail({ ...held, ...outcome })
      }
    },
    tick: async () => {
      for (let nextAt = await round.runOnce(); nextAt !== null && nextAt <= clock.now(); )
        nextAt = await round.runOnce()
    },
    close: () => {
      if (isOpen) open.close()
      isOpen = false
    },
  }
}

type Leased = Awaited<ReturnType<Client['leaseNext']>>['tasks'][number]

async function answer(requests: Requests, task: Leased) {
  const kind = task.type.slice('schedule.'.length) as keyof Requests
  const schema = kind in SCHEMAS ? SCHEMAS[kind as keyof typeof SCHEMAS] : NamedSchedule
  const parsed = schema.safeParse(task.payload)
  if (!parsed.success)
    return { error: { code: 'invalid_payload', message: parsed.error.message }, retryable: false }
  try {
    // Each request is given what its own schema made, and needs nothing of the context but the task.
    return { result: await requests[kind](parsed.data as never, { task } as never) }
  } catch (error) {
    if (error instanceof Killed) throw error
    const { name, code, message } = error as FatalError
    return { error: { code, message }, retryable: name !== 'FatalError' }
  }
}

/** What has an effect may be the last thing that is done, or the first that is not. */
function mortal<T extends object>(port: T, fate: () => void): T {
  const methods = Object.entries(port).map(([name, method]) => {
    const call = (...given: unknown[]) => {
      fate()
      const reply: unknown = (method as (...given: unknown[]) => unknown)(...given)
      if (!(reply instanceof Promise)) {
        fate()
        return reply
      }
      return reply.then((value) => {
        fate()
        return value
      })
    }
    return [name, call] as const
  })
  return Object.fromEntries(methods) as T
}

export interface SchedulerRig extends TestGate {
  path(name: string): string
  node(parts?: Partial<NodeParts>): Node
  /** What a request comes to, when a node has served it. */
  ask(type: string, payload: object, owner?: string): Promise<{ readonly task_id: string }>
  tasks(type: string): Promise<Task[]>
}

export type Task = Awaited<ReturnType<Client['listTasks']>>['tasks'][number]

const open: (() => unknown)[] = []

export async function closeRigs(): Promise<void> {
  for (const close of open.splice(0).toReversed()) await close()
}

export async function openRig(start: string, config: object = {}): Promise<SchedulerRig> {
  const folder = mkdtempSync(join(tmpdir(), 'asyncgate-scheduler-'))
  open.push(() => rmSync(folder, { recursive: true, force: true }))
  const gate = await createTestGate({ startMs: Date.parse(start), config })
  open.push(() => gate.stop())
  const path = (name: string) => join(folder, name)
  return {
    ...gate,
    path,
    node: (parts) => {
      const node = openNode({ gate, path: path('schedules.db'), ...parts })
      open.push(() => node.close())
      return node
    },
    ask: (type, payload, owner = 'alice') =>
      gate.client.createTask({ principal_kind: 'agent', principal_id: owner, type, payload: { ...payload } }),
    tasks: async (type) => {
      const found: Task[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: Awaited<ReturnType<Client['listTasks']>> = await gate.client.listTasks({
          type,
          limit: 200,
          ...(cursor !== undefined && { cursor }),
        })
        found.push(...page.tasks)
        cursor = page.next_cursor
      }
      return found.toReversed()
    },
  }
}
