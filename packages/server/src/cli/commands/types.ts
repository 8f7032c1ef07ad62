// asyncgate types put | list | show | delete | registered-only
import { contract, type GateContract, type Reply } from '@asyncgate/sdk'
import { ACCESS_OPTIONS, callAccess } from '../access-call.ts'
import { command } from '../command.ts'
import { parseYaml } from '../../config.ts'
import { UsageError } from '../failure.ts'
import { fieldsOf } from '../fields.ts'
import { show, type View } from '../server-call.ts'
import { type Column, renderFacts, renderTable } from '../table.ts'
import { jsonText } from '../task-text.ts'
import type { Terminal } from '../terminal.ts'
import { relativeTime, safe } from '../text.ts'

type TaskType = Reply<GateContract['getTaskType']>
type TypePage = Reply<GateContract['listTaskTypes']>

const TYPE_NAME = [{ name: 'task_type', about: 'The type, as "types list" shows it.' }] as const
const WHERE =
  'Works on the configured database; with --url on a running server, with the key of an administrator.'

export const typesPut = command({
  name: 'types put',
  group: 'types',
  summary: contract.putTaskType.summary,
  details: `The file holds the fields of put_task_type, as YAML or JSON; what it leaves out is unset. ${WHERE}`,
  positionals: [{ name: 'file', about: 'YAML or JSON, or "-" for stdin.' }],
  configured: true,
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate types put report.yaml', about: 'registers it, or replaces what was registered' },
    {
      line: `echo '{"task_type": "echo", "max_concurrent": 5}' | asyncgate types put - --url http://127.0.0.1:8420`,
      about: 'on a running server, from stdin',
    },
  ],
  async run(call) {
    const input = await typeFrom(call.positionals[0]!, call.terminal)
    show(
      await callAccess('putTaskType', input, call),
      ({ task_type: name }) => `Registered: ${safe(name)}`,
      call,
    )
    return 0
  },
})

export const typesList = command({
  name: 'types list',
  group: 'types',
  summary: contract.listTaskTypes.summary,
  details: WHERE,
  configured: true,
  fields: () => fieldsOf(contract.listTaskTypes),
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate types list', about: 'on the configured database' },
    {
      line: 'asyncgate types list --url http://127.0.0.1:8420 --json',
      about: 'with schemas, of a running server',
    },
  ],
  async run(call) {
    show(await callAccess('listTaskTypes', call.input, call), typeTable, call)
    return 0
  },
})

export const typesShow = command({
  name: 'types show',
  group: 'types',
  summary: contract.getTaskType.summary,
  details: WHERE,
  positionals: TYPE_NAME,
  configured: true,
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate types show report.render', about: 'its schema, defaults and limits' },
    { line: 'asyncgate types show report.render --json', about: 'as the API tells it' },
  ],
  async run(call) {
    show(await callAccess('getTaskType', { task_type: call.positionals[0] }, call), typeFacts, call)
    return 0
  },
})

export const typesDelete = command({
  name: 'types delete',
  group: 'types',
  summary: contract.deleteTaskType.summary,
  details: contract.deleteTaskType.guide,
  positionals: TYPE_NAME,
  configured: true,
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate types delete report.render', about: 'its payloads are no longer checked' },
    { line: 'asyncgate types list', about: 'what is still registered?' },
  ],
  async run(call) {
    const reply = await callAccess('deleteTaskType', { task_type: call.positionals[0] }, call)
    show(reply, ({ task_type: name }) => `Forgotten: ${safe(name)}`, call)
    return 0
  },
})

export const typesRegisteredOnly = command({
  name: 'types registered-only',
  group: 'types',
  summary: contract.setRegisteredOnly.summary,
  details: contract.setRegisteredOnly.guide,
  positionals: [{ name: 'on|off', about: '"on": other types are refused; "off": they are accepted.' }],
  configured: true,
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate types registered-only on', about: 'a mistyped type is refused from now on' },
    { line: 'asyncgate types registered-only off', about: 'any type is accepted again' },
  ],
  async run(call) {
    const [wanted] = call.positionals
    if (wanted !== 'on' && wanted !== 'off') throw new UsageError(`Give on or off, not "${wanted}".`)
    const reply = await callAccess('setRegisteredOnly', { registered_only: wanted === 'on' }, call)
    show(reply, ({ registered_only: only }) => onlyText(only), call)
    return 0
  },
})

function onlyText(registeredOnly: boolean): string {
  return registeredOnly ? 'Only registered types are accepted.' : 'Other types are accepted too.'
}

async function typeFrom(file: string, terminal: Terminal): Promise<Readonly<Record<string, unknown>>> {
  const text = await (file === '-' ? terminal.readStdin() : terminal.readFile(file))
  const name = file === '-' ? 'stdin' : file
  const { value, problems } = parseYaml({ text, name })
  const [problem] = problems
  if (problem !== undefined) throw new UsageError(`${problem.where}: ${problem.message}`)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new UsageError(`${name} must hold one task type, e.g. {"task_type": "echo"}.`)
}

function typeTable({ types, registered_only: only, next_cursor: cursor }: TypePage, view: View): string {
  const note = onlyText(only)
  if (types.length === 0) return `No type is registered. ${note} Register one with "asyncgate types put".`
  const columns: Column<TaskType>[] = [
    { title: 'TYPE', text: (type) => type.task_type, shrinks: true },
    { title: 'STATUS', text: ({ enabled }) => (enabled ? 'enabled' : 'disabled') },
    { title: 'CHECKED', text: (type) => (type.params_schema === null ? '' : 'yes') },
    { title: 'AT ONCE', text: (type) => String(type.max_concurrent ?? '') },
    { title: 'CHANGED', text: (type) => relativeTime(type.updated_at, view.now) },
    { title: 'ABOUT', text: (type) => type.description ?? '', shrinks: true },
  ]
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${renderTable(types, columns, view)}\n\n${note}${more}`
}

function typeFacts(type: TaskType, { paint }: View): string {
  const { params_schema: schema, ...plain } = type
  const facts = Object.entries(plain).map(([name, value]): [string, string | null] => [
    name.replaceAll('_', ' '),
    value === null ? null : safe(String(value)),
  ])
  return renderFacts([...facts, ['params schema', jsonText(schema)]], paint)
}
