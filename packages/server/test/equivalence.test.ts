// REST and MCP are the same operations: one history, run over each against a server of its own under the same clock and
// the same ids, gives the same replies, errors, task states and receipts, step by step, on every store.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contract, ERRORS, GateError, type Operation, type OperationKey } from '@asyncgate/sdk'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Caller } from '../src/auth/caller.ts'
import { DEFAULT_SCOPES } from '../src/auth/roles.ts'
import type { Authenticate } from '../src/auth/credential.ts'
import { configOf } from '../src/config.ts'
import { type RunningGate, startGate } from '../src/gate.ts'
import { createIds, type Ids } from '../src/ids.ts'
import { createLog } from '../src/log.ts'
import type { Store } from '../src/store/port.ts'
import { CHEAP } from './api-key.ts'
import { type Answer, type Door, openDoor, type Protocol, PROTOCOLS, REQUEST_ID } from './doors.ts'
import { declaredErrors, HISTORIES, type History, type Step, type Who } from './equivalence-history.ts'
import { verifies } from './requirements.ts'
import { createSeededRandom } from './seeded-random.ts'
import { openTestStore, STORE_KINDS, type StoreKind } from './stores.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'
import { EVERY_RECEIPT, EVERY_TASK, wholeState } from './whole-state.ts'

const TENANTS = ['default', 'other']

const CALLERS: Record<Exclude<Who, 'nobody'>, Caller> = {
  admin: callerOf('admin', { kind: 'agent', id: 'default' }, { speaksForAll: true }),
  operator: callerOf('operator', { kind: 'human', id: 'olga' }),
  alice: callerOf('agent', { kind: 'agent', id: 'alice' }),
  indexer: callerOf('worker', { kind: 'worker', id: 'indexer' }),
  stranger: callerOf('admin', { kind: 'agent', id: 'default' }, { speaksForAll: true, tenantId: 'other' }),
  powerless: callerOf('service', { kind: 'service', id: 'powerless' }),
}

function callerOf(role: Caller['role'], principal: Caller['principal'], more: Partial<Caller> = {}): Caller {
  const scopes = new Set(DEFAULT_SCOPES[role])
  return { tenantId: 'default', role, principal, scopes, speaksForAll: false, ...more }
}

const authenticate: Authenticate = async ({ authorization }) => {
  const who = (authorization ?? '').slice('Bearer '.length)
  if (Object.hasOwn(CALLERS, who)) return CALLERS[who as keyof typeof CALLERS]
  throw new GateError('unauthenticated', 'The API key is not valid.')
}

interface Stage {
  readonly gate: RunningGate
  readonly clock: VirtualClock
  readonly door: Door
  setDatabase(state: 'down' | 'up'): void
  readonly lines: Record<string, unknown>[]
  close(): Promise<void>
}

async function openStage(kind: StoreKind, protocol: Protocol, history: History): Promise<Stage> {
  const opened = await openTestStore(kind)
  const clock = createVirtualClock()
  const ids = createTape(createIds({ clock, random: createSeededRandom(2) }))
  const { store, setDatabase } = fragile({ ...opened.store, transact: ids.replayedBy(opened.store) })
  const folder = await mkdtemp(join(tmpdir(), 'asyncgate-equal-'))
  const config = configOf({
    port: 0,
    instance_id: 'equal',
    auth: { api_key: 'unused' },
    ...history.config,
    channels: {
      blob_path: folder,
      s3_access_key_id: 'x',
      s3_secret_access_key: 'x',
      ...history.config.channels,
    },
    lease: { sweep_interval_seconds: 3_600, ...history.config.lease },
  })
  const lines: Record<string, unknown>[] = []
  const gate = await startGate(config, {
    clock,
    random: createSeededRandom(1),
    ids,
    store,
    hashCost: CHEAP,
    authenticate,
    log: createLog(config, { write: (line) => lines.push(JSON.parse(line)) }),
  })
  const door = openDoor(protocol, gate.url)
  const close = async () => {
    await door.close()
    await gate.stop()
    await opened.dispose()
    await rm(folder, { recursive: true, force: true })
  }
  return { gate, clock, door, setDatabase, lines, close }
}

/** A store may have a unit decided more than once, and uses the last decision: each is given the same ids. */
function createTape(ids: Ids) {
  const tape: string[] = []
  let at = 0
  return {
    next: (nowMs?: number) => {
      if (at === tape.length) tape.push(ids.next(nowMs))
      return tape[at++]!
    },
    replayedBy: (store: Store): Store['transact'] => {
      return (unit) => {
        const start = at
        return store.transact({ ...unit, decide: (snapshot) => ((at = start), unit.decide(snapshot)) })
      }
    },
  }
}

/** A store whose database can go away, as its driver would say it. */
function fragile(store: Store) {
  let isDown = false
  const guarded = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (name === 'close') return async () => {}
      if (typeof member !== 'function' || name === 'isAlone' || name === 'hint' || name === 'onHint')
        return member
      return async (...args: unknown[]) => {
        if (isDown) throw new GateError('database_unavailable', 'The database does not answer.')
        return (member as (...all: unknown[]) => unknown).apply(target, args)
      }
    },
  })
  return { store: guarded, setDatabase: (state: 'down' | 'up') => (isDown = state === 'down') }
}

/** What a step left behind. */
interface Entry {
  readonly step: string
  readonly ok: boolean
  readonly body: unknown
  readonly tasks: readonly string[]
  /** Added by the step. */
  readonly receipts: readonly string[]
}

interface Run {
  readonly transcript: readonly Entry[]
  readonly state: unknown
  readonly answers: readonly { step: CallStep; answer: Answer }[]
  readonly lines: readonly Record<string, unknown>[]
}

type CallStep = Extract<Step, { do: OperationKey }>

async function play(kind: StoreKind, protocol: Protocol, history: History): Promise<Run> {
  const stage = await openStage(kind, protocol, history)
  const watch = createWatch(stage.gate)
  const memory: Record<string, unknown> = {}
  const transcript: Entry[] = []
  const answers: Run['answers'][number][] = []
  try {
    for (const step of history.steps) {
      if (!('do' in step)) {
        await take(step, stage)
        continue
      }
      const input = resolve(step.with ?? {}, memory)
      const answer = await stage.door.call(step.do, input, step.as ?? 'admin')
      if (step.keep !== undefined) memory[step.keep] = answer.body
      answers.push({ step, answer })
      transcript.push({ step: name(step), ok: answer.ok, body: answer.body, ...(await watch()) })
    }
    return { transcript, state: await statesOf(stage.gate), answers, lines: stage.lines }
  } finally {
    await stage.close()
  }
}

function statesOf({ store }: RunningGate) {
  return Promise.all(TENANTS.map((tenantId) => wholeState(store, tenantId)))
}

async function take(step: Exclude<Step, CallStep>, { clock, gate, setDatabase }: Stage): Promise<void> {
  if ('advanceMs' in step) await clock.advance(step.advanceMs)
  else if ('sweep' in step) await gate.sweep()
  else setDatabase(step.database)
}

function name(step: CallStep): string {
  return `${step.do} as ${step.as ?? 'admin'} → ${step.fails ?? 'ok'}`
}

/** Puts what earlier steps kept in the place of the texts that stand for it. */
function resolve(value: unknown, memory: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, memory))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member, memory)]))
  if (typeof value !== 'string' || !value.startsWith('$')) return value
  const found = value
    .slice(1)
    .split('.')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], memory)
  if (found === undefined || found === null) throw new Error(`${value} was not kept`)
  return found
}

/** Looks after each step: how every task stands, and what the ledger has gained. Nothing while the database is down. */
function createWatch({ store }: RunningGate) {
  const seen = new Map(TENANTS.map((tenantId) => [tenantId, 0]))
  const look = async (tenantId: string) => {
    const tasks = await store.listTasks({ ...EVERY_TASK, tenantId })
    const added = await store.listReceipts({ ...EVERY_RECEIPT, tenantId, after: seen.get(tenantId)! })
    seen.set(tenantId, added.at(-1)?.position ?? seen.get(tenantId)!)
    return {
      tasks: tasks.map(({ definition, state: { status, attempt, expiries, fence } }) =>
        [definition.taskId, status, attempt, expiries, fence].join(' '),
      ),
      receipts: added.map(({ position, receipt }) =>
        [position, receipt.receiptId, receipt.receiptType, receipt.hash].join(' '),
      ),
    }
  }
  return async (): Promise<Pick<Entry, 'tasks' | 'receipts'>> => {
    const states = await Promise.all(TENANTS.map(look)).catch(() => [])
    return {
      tasks: states.flatMap((state) => state.tasks),
      receipts: states.flatMap((state) => state.receipts),
    }
  }
}

/** Each run is made once and looked at by several tests. */
const runs = new Map<string, Promise<Run>>()
function runOf(kind: StoreKind, protocol: Protocol, title: string): Promise<Run> {
  const id = `${kind} ${protocol} ${title}`
  const run = runs.get(id) ?? play(kind, protocol, HISTORIES[title]!)
  runs.set(id, run)
  return run
}

const TITLES = Object.keys(HISTORIES)

describe.each(STORE_KINDS)('on %s', (kind) => {
  // The runs themselves take their time; the tests only look at them.
  beforeAll(async () => {
    const all = TITLES.flatMap((title) => PROTOCOLS.map((protocol) => runOf(kind, protocol, title)))
    await Promise.all(all)
  })

  for (const title of TITLES) {
    verifies(['OPS-4', 'MCP-7'], `${title}: REST and MCP agree step by step, on ${kind}`, async () => {
      const rest = await runOf(kind, 'REST', title)
      const mcp = await runOf(kind, 'MCP', title)
      for (const [at, entry] of rest.transcript.entries()) expect(mcp.transcript[at]).toEqual(entry)
      expect(mcp.state).toEqual(rest.state)
    })

    verifies(['OPS-4', 'RCPT-3'], `${title}: ${kind} gives the same history as memory`, async () => {
      const here = await runOf(kind, 'REST', title)
      const memory = await runOf('memory', 'REST', title)
      for (const [at, entry] of memory.transcript.entries()) expect(here.transcript[at]).toEqual(entry)
    })

    for (const protocol of PROTOCOLS) {
      verifies('ERR-1', `${title}: every step ends as it says, over ${protocol} on ${kind}`, async () => {
        const { answers } = await runOf(kind, protocol, title)
        const ended = answers.map(({ step, answer }) => [name(step), answer.ok ? 'ok' : answer.body.error])
        expect(ended).toEqual(answers.map(({ step }) => [name(step), step.fails ?? 'ok']))
      })
    }
  }
})

for (const protocol of PROTOCOLS) {
  const answersOf = async () => {
    const all = await Promise.all(TITLES.map((title) => runOf('memory', protocol, title)))
    return all.flatMap((run) => run.answers)
  }

  verifies('ERR-1', `what is refused changes nothing, over ${protocol}`, async () => {
    const { transcript } = await runOf('memory', protocol, TITLES[0]!)
    for (const [at, { step, ok, receipts, tasks }] of transcript.entries()) {
      const before = transcript[at - 1]?.tasks ?? []
      if (ok) continue
      expect([step, receipts]).toEqual([step, []])
      // Without the database nobody can look.
      if (tasks.length > 0 && before.length > 0) expect([step, tasks]).toEqual([step, before])
    }
  })

  verifies('OPS-4', `every reply over ${protocol} is what the contract says, and nothing more`, async () => {
    for (const { step, answer } of await answersOf()) {
      if (!answer.ok) continue
      const { output }: Operation = contract[step.do]
      expect([step.do, output.parse(answer.body)]).toEqual([step.do, answer.body])
    }
  })

  verifies('ERR-1', `every error over ${protocol} is declared, with the one body`, async () => {
    for (const { step, answer } of await answersOf()) {
      if (answer.ok) continue
      expect(answer.body).toMatchObject({
        error: step.fails,
        message: expect.stringMatching(/ .*\.$/),
        retryable: ERRORS[step.fails!].retryable,
      })
      const { errors }: Operation = contract[step.do]
      const common = [
        'invalid_input',
        'unauthenticated',
        'forbidden',
        'payload_too_large',
        'database_unavailable',
      ]
      expect([step.do, [...errors, ...common]]).toEqual([step.do, expect.arrayContaining([step.fails])])
    }
  })

  verifies(
    'OPS-3',
    `every answer over ${protocol} carries the request id, and so does its log line`,
    async () => {
      const { answers, lines } = await runOf('memory', protocol, TITLES[0]!)
      for (const { answer } of answers) {
        expect([answer.headers.get('x-request-id'), answer.requestId]).toEqual([REQUEST_ID, REQUEST_ID])
      }
      const calls = lines.filter((line) => line.message === 'call')
      const refusedEarly = answers.filter(({ step }) => step.as === 'nobody').length
      expect(calls).toHaveLength(answers.length - refusedEarly)
      expect(calls.every((line) => line.request_id === REQUEST_ID)).toBe(true)
    },
  )
}

verifies('ERR-1', 'over REST every error has its own status, every creation 201', async () => {
  const { answers } = await runOf('memory', 'REST', TITLES[0]!)
  for (const { step, answer } of answers) {
    const operation: Operation = contract[step.do]
    const fresh = answer.body.is_duplicate === true ? 200 : (operation.status ?? 200)
    const expected = step.fails === undefined ? fresh : ERRORS[step.fails].status
    expect([name(step), answer.status]).toEqual([name(step), expected])
    if (answer.status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
})

verifies('OBL-5', 'bootstrap says that it is deprecated, and what follows it', async () => {
  const { answers } = await runOf('memory', 'REST', TITLES[0]!)
  const { headers } = answers.find(({ step, answer }) => step.do === 'bootstrap' && answer.ok)!.answer
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-asyncgate-deprecated': 'true',
    deprecation: 'true',
    link: '</v1/obligations/open>; rel="successor-version"',
  })
})

test('every operation and every declared error that can occur has a step', () => {
  const steps = Object.values(HISTORIES).flatMap(({ steps: all }) => all)
  const provoked = new Set(
    steps.flatMap((step) => ('do' in step && step.fails ? [`${step.do} ${step.fails}`] : [])),
  )
  const succeeding = new Set(steps.flatMap((step) => ('do' in step && !step.fails ? [step.do] : [])))
  const missing = declaredErrors().map(({ key, code }) => `${key} ${code}`)
  expect(missing.filter((pair) => !provoked.has(pair))).toEqual([])
  expect(Object.keys(contract).filter((key) => !succeeding.has(key as OperationKey))).toEqual([])
})
