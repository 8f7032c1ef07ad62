// Registered types: what they refuse, what they add, and what an agent learns of them.
import type { GateContract, Input } from '@asyncgate/sdk'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { type Bench, onEveryStore, openBench } from './harness.ts'
import { asAgent, BY_HAND, claimOne, create, ERROR, held, openTwo, task } from './scenes.ts'

type Settings = Omit<Input<GateContract['putTaskType']>, 'task_type'>

const PAGES = {
  type: 'object',
  properties: {
    pages: { type: 'array', items: { type: 'object', properties: { no: { type: 'integer' } } } },
  },
  required: ['pages'],
  additionalProperties: false,
}
const GOOD = { pages: [{ no: 1 }] }
const BAD = { pages: [{ no: 1 }, { no: 'two' }] }

const register = (bench: Bench, settings: Settings = {}) =>
  bench.call('putTaskType', { task_type: 'work', ...settings })

onEveryStore('task types', (open, _kind, store, beside) => {
  verifies(
    'TYPE-1',
    'a payload that does not fit is refused with its path, and nothing is stored',
    async () => {
      const bench = await open()
      await register(bench, { params_schema: PAGES })
      const refusals = [
        [BAD, '/pages/1/no', 'type'],
        [{}, '/pages', 'required'],
        [{ ...GOOD, 'a/b~c': 1 }, '/a~1b~0c', 'additionalProperties'],
      ] as const
      for (const [payload, path, rule] of refusals) {
        const refusal = await bench.refusal('createTask', { type: 'work', payload })
        expect(refusal.body()).toMatchObject({ error: 'schema_violation', type: 'work', path, rule })
        expect(refusal.message).toContain(path)
      }
      expect((await bench.call('listTasks', {})).tasks).toEqual([])
      expect(await create(bench, { payload: GOOD })).toMatchObject({ is_duplicate: false })
      expect(await create(bench, { type: 'other', payload: BAD })).toMatchObject({ is_duplicate: false })
    },
  )

  verifies('TYPE-1', 'defaults are applied where the task says nothing', async () => {
    const bench = await open()
    const defaults = { default_priority: 7, default_max_attempts: 1, default_timeout_seconds: 60 }
    await register(bench, defaults)
    const { task_id: silent } = await create(bench)
    expect(await task(bench, silent)).toMatchObject({ priority: 7, max_attempts: 1, timeout_seconds: 60 })
    const own = { priority: 0, max_attempts: 5, timeout_seconds: 9 }
    const { task_id: outspoken } = await create(bench, own)
    expect(await task(bench, outspoken)).toMatchObject(own)
    const { task_id: free } = await create(bench, { type: 'other' })
    expect(await task(bench, free)).toMatchObject({ priority: 0, max_attempts: 3, timeout_seconds: null })
  })

  verifies('TYPE-1', 'create answers with the guidance of the type', async () => {
    const bench = await open()
    const guidance = { estimated_runtime_seconds: 20, poll_suggestion_seconds: 5 }
    await register(bench, guidance)
    expect(await create(bench)).toMatchObject(guidance)
    const { tasks } = await bench.call('createTasks', { tasks: [{ type: 'work' }, { type: 'other' }] })
    expect(tasks[0]).toMatchObject(guidance)
    expect(tasks[1]).not.toHaveProperty('poll_suggestion_seconds')
  })

  verifies('TYPE-1', 'of many tasks each is judged alone', async () => {
    const bench = await open()
    await register(bench, { params_schema: PAGES })
    const { tasks } = await bench.call('createTasks', {
      tasks: [GOOD, BAD, GOOD].map((payload) => ({ type: 'work', payload })),
    })
    expect(tasks.map((item) => ('error' in item ? item.error : item.status))).toEqual([
      'queued',
      'schema_violation',
      'queued',
    ])
  })

  verifies('TYPE-1', 'a repetition returns the first task, whatever the type says by now', async () => {
    const bench = await open()
    await register(bench, { default_priority: 1 })
    const wanted = { payload: BAD, idempotency_key: 'once' }
    const first = await create(bench, wanted)
    for (const change of [{ params_schema: PAGES, default_priority: 2 }, { enabled: false }]) {
      await register(bench, change)
      expect(await create(bench, wanted)).toMatchObject({ task_id: first.task_id, is_duplicate: true })
      const { tasks } = await bench.call('createTasks', { tasks: [{ type: 'work', ...wanted }] })
      expect(tasks[0]).toMatchObject({ task_id: first.task_id, is_duplicate: true })
    }
    expect(
      await bench.refusal('createTask', { type: 'work', ...wanted, idempotency_key: 'new' }),
    ).toMatchObject({
      code: 'invalid_input',
    })
  })

  verifies('TYPE-1', 'a redrive is a creation: it is checked, and repeating it is not', async () => {
    const bench = await open()
    const { task_id } = await create(bench, { payload: BAD, max_attempts: 1 })
    await bench.call('fail', { ...held(await claimOne(bench)), error: ERROR })
    await register(bench, { params_schema: PAGES })
    expect(await bench.refusal('retryTask', { task_id })).toMatchObject({ code: 'schema_violation' })
    await register(bench, { estimated_runtime_seconds: 3 })
    const again = await bench.call('retryTask', { task_id })
    expect(again).toMatchObject({ is_duplicate: false, estimated_runtime_seconds: 3 })
    await register(bench, { params_schema: PAGES })
    expect(await bench.call('retryTask', { task_id })).toMatchObject({
      task_id: again.task_id,
      is_duplicate: true,
    })
  })

  verifies('TYPE-1', 'a disabled type refuses new tasks and lets the others go on', async () => {
    const bench = await open()
    await create(bench)
    await register(bench, { enabled: false })
    const refusal = await bench.refusal('createTask', { type: 'work' })
    expect(refusal.body()).toMatchObject({ error: 'invalid_input', field: 'type' })
    expect(refusal.message).toContain('disabled')
    await bench.call('complete', { ...held(await claimOne(bench)), store_result: true })
  })

  verifies('TYPE-1', 'a tenant may accept registered types alone', async () => {
    const [bench, neighbour] = [await open(), await open()]
    await register(bench)
    await bench.call('setRegisteredOnly', { registered_only: true })
    expect(await create(bench)).toMatchObject({ is_duplicate: false })
    expect((await bench.refusal('createTask', { type: 'wrok' })).body()).toMatchObject({
      error: 'invalid_input',
      field: 'type',
    })
    expect(await create(neighbour, { type: 'wrok' })).toMatchObject({ is_duplicate: false })
    await bench.call('setRegisteredOnly', { registered_only: false })
    expect(await create(bench, { type: 'wrok' })).toMatchObject({ is_duplicate: false })
  })

  verifies('TYPE-1', 'a type may want smaller payloads than the server', async () => {
    const bench = await open()
    await register(bench, { max_payload_bytes: 20 })
    const exactly = { text: 'a'.repeat(20 - '{"text":""}'.length) }
    expect(await create(bench, { payload: exactly })).toMatchObject({ is_duplicate: false })
    const refusal = await bench.refusal('createTask', { type: 'work', payload: { text: `${exactly.text}a` } })
    expect(refusal.body()).toMatchObject({ error: 'payload_too_large', bytes: 21, limit: 20 })
  })

  verifies('TYPE-1', 'an agent learns which types there are, and changes none', async () => {
    const [bench, neighbour] = [await open(), await open()]
    for (const task_type of ['b', 'Z', 'ä', 'a'])
      await bench.call('putTaskType', { task_type, params_schema: PAGES })
    const agent = asAgent('alice')
    const first = await bench.call('listTaskTypes', { limit: 3 }, agent)
    expect(first.types.map(({ task_type }) => task_type)).toEqual(['Z', 'a', 'b'])
    expect(first).toMatchObject({ registered_only: false, types: [{ params_schema: PAGES }, {}, {}] })
    const rest = await bench.call('listTaskTypes', { limit: 3, cursor: first.next_cursor! }, agent)
    expect([rest.types.map(({ task_type }) => task_type), rest.next_cursor]).toEqual([['ä'], null])
    expect(await bench.call('getTaskType', { task_type: 'ä' }, agent)).toMatchObject({ enabled: true })
    expect((await neighbour.call('listTaskTypes', {})).types).toEqual([])
    for (const key of ['putTaskType', 'deleteTaskType'] as const)
      expect(await bench.refusal(key, { task_type: 'a' }, agent)).toMatchObject({ code: 'forbidden' })
  })

  test('a registration is replaced as a whole, and keeps the time of the first', async () => {
    const bench = await open()
    const first = await register(bench, { description: 'one', max_concurrent: 3 })
    await bench.clock.advance(1_000)
    const second = await register(bench, { default_result_channel: 'blob', default_retention_days: 9 })
    expect(second).toMatchObject({ description: null, max_concurrent: null, created_at: first.created_at })
    expect(second.updated_at).not.toBe(first.updated_at)
    expect(await bench.call('getTaskType', { task_type: 'work' })).toEqual(second)
    expect(await bench.call('deleteTaskType', { task_type: 'work' })).toEqual(second)
    expect(await bench.refusal('getTaskType', { task_type: 'work' })).toMatchObject({ code: 'not_found' })
  })

  test('a schema that cannot be used is refused, and what was registered stays', async () => {
    const bench = await open()
    const before = await register(bench, { params_schema: PAGES })
    const schemas: [object, RegExp][] = [
      [{ type: 'text' }, /type/],
      [{ requried: ['a'] }, /requried/],
      [{ $ref: 'https://example.org/schema.json' }, /leads out/],
      [{ $ref: '#/$defs/none' }, /none/],
      [{ $schema: 'http://json-schema.org/draft-04/schema#' }, /\$schema/],
      [{ properties: { a: { pattern: '^(a+)+$' } } }, /for ever/],
      [{ patternProperties: { '(': {} } }, /regular expression|regex/],
      [{ description: 'a'.repeat(65_536) }, /65536/],
    ]
    for (const [params_schema, says] of schemas) {
      const refusal = await bench.refusal('putTaskType', { task_type: 'work', params_schema })
      expect(refusal.body()).toMatchObject({ error: 'invalid_input', field: 'params_schema' })
      expect(refusal.message).toMatch(says)
    }
    expect(await bench.call('getTaskType', { task_type: 'work' })).toEqual(before)
  })

  verifies('TYPE-1', 'a change holds at once on its server, and on others within a minute', async () => {
    const [one, other] = await openTwo(store(), await beside(), BY_HAND)
    const bad = { type: 'work', payload: BAD }
    await other.call('createTask', bad) // so that it knows the type not to be registered
    await one.call('createTask', bad)
    await register(one, { params_schema: PAGES })
    expect(await one.refusal('createTask', bad)).toMatchObject({ code: 'schema_violation' })
    await other.clock.advance(60_000)
    expect(await other.refusal('createTask', bad)).toMatchObject({ code: 'schema_violation' })
    await one.call('setRegisteredOnly', { registered_only: true })
    await one.call('deleteTaskType', { task_type: 'work' })
    expect(await one.refusal('createTask', bad)).toMatchObject({ code: 'invalid_input' })
    await other.clock.advance(60_000)
    expect(await other.refusal('createTask', bad)).toMatchObject({ code: 'invalid_input' })
  })

  test('a creation reads no types while what is known of them is fresh', async () => {
    let reads = 0
    const counting = { ...store() }
    for (const name of ['readType', 'readRegisteredOnly'] as const) {
      const read = counting[name] as (...args: unknown[]) => Promise<never>
      counting[name] = (...args: unknown[]) => {
        reads += 1
        return read(...args)
      }
    }
    const bench = await openBench(counting)
    await Promise.all([create(bench), create(bench), create(bench)])
    await create(bench)
    expect(reads).toBe(2)
    await bench.clock.advance(60_000)
    await create(bench)
    expect(reads).toBe(4)
  })
})
