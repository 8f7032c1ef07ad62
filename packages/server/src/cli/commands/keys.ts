// asyncgate keys create | list | rotate | revoke
import { contract, type GateContract, type Reply } from '@asyncgate/sdk'
import { ACCESS_OPTIONS, callAccess } from '../access-call.ts'
import { command } from '../command.ts'
import { fieldsOf } from '../fields.ts'
import { newKeyFacts, principalText } from '../key-text.ts'
import { principalOf, show, type View } from '../server-call.ts'
import { type Column, renderTable } from '../table.ts'
import { relativeTime, safe } from '../text.ts'

type Key = Reply<GateContract['revokeKey']>
type KeyPage = Reply<GateContract['listKeys']>

const KEY_ID = [{ name: 'key_id', about: 'The id that "keys list" shows.' }] as const
const SOME_ID = '0198c0de-0000-7000-8000-000000000003'

export const keysCreate = command({
  name: 'keys create',
  group: 'access',
  summary: contract.createKey.summary,
  details:
    'The key is shown this once. Works on the configured database, so that the first key of all can be made; ' +
    'with --url on a running server.',
  configured: true,
  fields: () => fieldsOf(contract.createKey, { except: ['principal'] }),
  options: {
    principal: {
      kind: 'text',
      shows: '<kind/id>',
      required: true,
      about: 'Who calls with it, e.g. worker/indexer.',
    },
    ...ACCESS_OPTIONS,
  },
  examples: [
    {
      line: 'asyncgate keys create --role admin --principal human/ada --name "Ada\'s laptop"',
      about: 'the first key, made on the database',
    },
    {
      line: 'asyncgate keys create --role worker --principal worker/indexer --expires-at 2027-01-01T00:00:00Z --json',
      about: 'for a program: the key is "api_key" of the reply',
    },
  ],
  async run(call) {
    const { kind, id } = principalOf('--principal', call.values.principal)
    const input = { ...call.input, principal: { principal_kind: kind, principal_id: id } }
    show(await callAccess('createKey', input, call), newKeyFacts, call)
    return 0
  },
})

export const keysList = command({
  name: 'keys list',
  group: 'access',
  summary: contract.listKeys.summary,
  details: contract.listKeys.guide,
  configured: true,
  fields: () => fieldsOf(contract.listKeys),
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate keys list', about: 'on the configured database' },
    { line: 'asyncgate keys list --url https://gate.example.org --json', about: 'of a running server' },
  ],
  async run(call) {
    show(await callAccess('listKeys', call.input, call), keyTable, call)
    return 0
  },
})

export const keysRotate = command({
  name: 'keys rotate',
  group: 'access',
  summary: contract.rotateKey.summary,
  details: contract.rotateKey.guide,
  positionals: KEY_ID,
  configured: true,
  fields: () => fieldsOf(contract.rotateKey, { except: ['key_id'] }),
  options: ACCESS_OPTIONS,
  examples: [
    { line: `asyncgate keys rotate ${SOME_ID}`, about: 'both are valid for a day' },
    { line: `asyncgate keys rotate ${SOME_ID} --overlap-seconds 0`, about: 'the old one ends at once' },
  ],
  async run(call) {
    const input = { ...call.input, key_id: call.positionals[0] }
    show(await callAccess('rotateKey', input, call), newKeyFacts, call)
    return 0
  },
})

export const keysRevoke = command({
  name: 'keys revoke',
  group: 'access',
  summary: contract.revokeKey.summary,
  details: contract.revokeKey.guide,
  positionals: KEY_ID,
  configured: true,
  options: ACCESS_OPTIONS,
  examples: [
    { line: `asyncgate keys revoke ${SOME_ID}`, about: 'every server refuses it within a minute' },
    { line: 'asyncgate keys list', about: 'find the id by the beginning of the key' },
  ],
  async run(call) {
    const reply = await callAccess('revokeKey', { key_id: call.positionals[0] }, call)
    show(reply, ({ prefix }) => `Revoked ${prefix}…: every server refuses it within a minute.`, call)
    return 0
  },
})

function keyTable({ keys, next_cursor: cursor }: KeyPage, view: View): string {
  if (keys.length === 0) return 'No keys. Make one with: asyncgate keys create'
  const columns: Column<Key>[] = [
    { title: 'KEY ID', text: (key) => key.key_id },
    { title: 'BEGINS', text: (key) => key.prefix },
    { title: 'STATUS', text: (key) => key.status },
    { title: 'ROLE', text: (key) => key.role },
    { title: 'PRINCIPAL', text: principalText, shrinks: true },
    { title: 'MADE', text: (key) => relativeTime(key.created_at, view.now) },
    { title: 'NAME', text: (key) => key.name ?? '', shrinks: true },
  ]
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${renderTable(keys, columns, view)}${more}`
}
