// Agents hand work off: they create, cancel, redrive, attach, acknowledge, and write receipts of their own.
import type { Actor, Command, NewTask } from '../../src/engine/command.ts'
import type { Principal, Receipt } from '../../src/engine/model.ts'
import type { Chance } from './chance.ts'
import { newTask } from './commands.ts'
import type { Request } from './network.ts'
import type { State } from './state.ts'

export interface Agent {
  readonly principal: Principal
  /** Tasks that it was told of. */
  readonly tasks: string[]
  /** Bodies that it has used an idempotency key for. */
  readonly keyed: NewTask[]
}

export function createAgent(id: string): Agent {
  return { principal: { kind: 'agent', id }, tasks: [], keyed: [] }
}

interface Seen {
  readonly chance: Chance
  readonly state: State
  readonly now: number
  /** No more tasks than this, so that a run stays readable. */
  readonly tasksMax: number
}

export const TYPES = ['a', 'b', 'c']
export const CAPABILITIES = ['gpu', 'net']
/** The limit belongs to the key throughout a run, so that it can be checked without knowing who was first. */
export const KEYS: readonly { key: string; limit: number | null }[] = [
  { key: 'one', limit: null },
  { key: 'two', limit: 2 },
]

/** What the agent asks next, if anything. */
export function agentRequest(agent: Agent, seen: Seen): Request | null {
  const commands = nextCommands(agent, seen)
  if (commands.length === 0) return null
  return { from: agent.principal.id, commands, onReply: (results) => learn(agent, commands, results) }
}

function learn(
  agent: Agent,
  commands: readonly Command[],
  results: readonly { ok: boolean; reply?: unknown }[],
): void {
  for (const [index, result] of results.entries()) {
    const { kind } = commands[index]!
    if (!result.ok || (kind !== 'create' && kind !== 'retry')) continue
    const { taskId } = result.reply as { taskId: string } // both answer with the task
    if (!agent.tasks.includes(taskId)) agent.tasks.push(taskId)
  }
}

function nextCommands(agent: Agent, seen: Seen): Command[] {
  const { chance, state } = seen
  const full = state.tasks.size >= seen.tasksMax
  const kind = chance.weighted({
    create: full ? 1 : 12,
    several: full ? 0 : 3,
    cancel: 3,
    retry: 2,
    attach: 2,
    ack: 1,
    submit: 1,
  })
  if (kind === 'create') return full ? repeatedCreate(agent, chance) : [create(agent, seen)]
  if (kind === 'several') return Array.from({ length: chance.between(2, 4) }, () => create(agent, seen))
  if (kind === 'submit') return [submit(agent, seen)]
  if (kind === 'ack') return ack(agent, seen)
  const taskId = chooseTask(agent, { kind, seen })
  if (taskId === undefined) return []
  const actor: Actor = { principal: agent.principal, sees: 'own' }
  if (kind === 'cancel')
    return [{ kind, actor, taskId, reason: chance.percent(50) ? 'no longer needed' : null }]
  if (kind === 'retry') return [{ kind, actor, taskId }]
  return [{ kind, actor, taskId, artifacts: [{ type: 'file', url: `https://example.test/${taskId}` }] }]
}

/** Mostly one for which it makes sense, as an agent that reads its tasks would choose. */
function chooseTask(
  agent: Agent,
  { kind, seen }: { kind: 'cancel' | 'retry' | 'attach'; seen: Seen },
): string | undefined {
  const { chance, state } = seen
  const wanted = { cancel: null, retry: 'failed', attach: 'succeeded' }[kind]
  const sensible = agent.tasks.filter(
    (taskId) => wanted === null || state.tasks.get(taskId)?.state.status === wanted,
  )
  const from = sensible.length > 0 && chance.percent(90) ? sensible : agent.tasks
  return from.length === 0 ? undefined : chance.pick(from)
}

function create(agent: Agent, seen: Seen): Command {
  const { chance } = seen
  if (agent.keyed.length > 0 && chance.percent(15)) return repeatedCreate(agent, chance)[0]!
  const idempotencyKey = chance.percent(60) ? `key ${agent.keyed.length}` : null
  const task = newTask(agent.principal, { ...someTask(agent, seen), idempotencyKey })
  if (idempotencyKey !== null) agent.keyed.push(task)
  return { kind: 'create', task }
}

/** The same body under its key, or, wrongly, another one. */
function repeatedCreate(agent: Agent, chance: Chance): Command[] {
  if (agent.keyed.length === 0) return []
  const task = chance.pick(agent.keyed)
  return [
    { kind: 'create', task: chance.percent(80) ? task : { ...task, priority: (task.priority ?? 0) + 1 } },
  ]
}

function someTask({ tasks }: Agent, { chance, now }: Seen): Partial<NewTask> {
  const limited = chance.percent(30) ? chance.pick(KEYS) : null
  return {
    type: chance.pick(TYPES),
    payload: { n: chance.below(1_000) },
    capabilities: chance.percent(30) ? [chance.pick(['GPU', 'gpu', 'net'])] : [],
    priority: chance.below(3),
    maxAttempts: chance.between(1, 3),
    retryBackoffSeconds: chance.between(0, 20),
    maxExpiries: chance.pick([0, 1, 2, 20]),
    concurrencyKey: limited?.key ?? null,
    concurrencyLimit: limited?.limit ?? null,
    delaySeconds: chance.percent(20) ? chance.between(1, 40) : null,
    timeoutSeconds: chance.percent(15) ? chance.between(5, 40) : null,
    deadlineAt: chance.percent(12) ? now + chance.between(5_000, 120_000) : null,
    dependsOn: tasks.length > 0 && chance.percent(25) ? dependencies(tasks, chance) : [],
    onDependencyFailure: chance.percent(70) ? 'cancel' : 'run',
  }
}

function dependencies(tasks: readonly string[], chance: Chance): string[] {
  return [...new Set(Array.from({ length: chance.between(1, 3) }, () => chance.pick(tasks)))]
}

function ack(agent: Agent, seen: Seen): Command[] {
  const receipt = someReceipt(seen, ({ to }) => to.id === agent.principal.id)
  const actor: Actor = { principal: agent.principal, sees: 'own' }
  return receipt === undefined ? [] : [{ kind: 'ack', actor, receiptId: receipt.receiptId }]
}

/** Notes of their own, and schedules, whose obligations anybody may discharge. */
function submit(agent: Agent, seen: Seen): Command {
  const { chance } = seen
  const about = { from: agent.principal, to: agent.principal, taskId: null, kind: 'submitReceipt' as const }
  const schedule = someReceipt(seen, ({ receiptType }) => receiptType === 'schedule.created')
  if (schedule !== undefined && chance.percent(40)) {
    const { scheduleId, receiptId } = schedule
    return { ...about, receiptType: 'schedule.deleted', scheduleId, parents: [receiptId], body: {} }
  }
  if (chance.percent(50)) {
    const scheduleId = `schedule-${chance.below(5)}`
    return { ...about, receiptType: 'schedule.created', scheduleId, parents: [], body: { every: 60 } }
  }
  const parent = someReceipt(seen, () => true)
  const parents = parent === undefined ? [] : [parent.receiptId]
  return { ...about, receiptType: 'x.note', scheduleId: null, parents, body: { n: chance.below(3) } }
}

function someReceipt({ chance, state }: Seen, wanted: (receipt: Receipt) => boolean): Receipt | undefined {
  const found = state.ledger.filter(({ receipt }) => wanted(receipt))
  return found.length === 0 ? undefined : chance.pick(found).receipt
}
