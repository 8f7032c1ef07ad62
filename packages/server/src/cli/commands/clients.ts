// asyncgate clients register | list | revoke
import { contract, type GateContract, type Reply } from '@asyncgate/sdk'
import { ACCESS_OPTIONS, callAccess } from '../access-call.ts'
import { command } from '../command.ts'
import { fieldsOf } from '../fields.ts'
import { show, type View } from '../server-call.ts'
import { type Column, renderFacts, renderTable } from '../table.ts'
import { relativeTime, safe } from '../text.ts'

type OAuthClient = Reply<GateContract['revokeClient']>
type ClientPage = Reply<GateContract['listClients']>

const CLIENT_ID = [{ name: 'client_id', about: 'The id that "clients list" shows.' }] as const
const SOME_ID = '0198c0de-0000-7000-8000-000000000005'

export const clientsRegister = command({
  name: 'clients register',
  group: 'access',
  summary: contract.registerClient.summary,
  details: contract.registerClient.guide,
  configured: true,
  fields: () => fieldsOf(contract.registerClient),
  options: ACCESS_OPTIONS,
  examples: [
    {
      line: 'asyncgate clients register --name "Team editor" --redirect-uris https://editor.example.org/oauth/callback',
      about: 'a web application',
    },
    {
      line: 'asyncgate clients register --name "Ada\'s shell" --redirect-uris http://127.0.0.1/callback',
      about: 'an application on a machine, on any port there',
    },
  ],
  async run(call) {
    show(await callAccess('registerClient', call.input, call), clientFacts, call)
    return 0
  },
})

export const clientsList = command({
  name: 'clients list',
  group: 'access',
  summary: contract.listClients.summary,
  configured: true,
  fields: () => fieldsOf(contract.listClients),
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate clients list', about: 'on the configured database' },
    { line: 'asyncgate clients list --url https://gate.example.org --json', about: 'of a running server' },
  ],
  async run(call) {
    show(await callAccess('listClients', call.input, call), clientTable, call)
    return 0
  },
})

export const clientsRevoke = command({
  name: 'clients revoke',
  group: 'access',
  summary: contract.revokeClient.summary,
  details: contract.revokeClient.guide,
  positionals: CLIENT_ID,
  configured: true,
  options: ACCESS_OPTIONS,
  examples: [
    { line: `asyncgate clients revoke ${SOME_ID}`, about: 'its tokens end within a minute' },
    { line: 'asyncgate clients list', about: 'find the id by the name' },
  ],
  async run(call) {
    const reply = await callAccess('revokeClient', { client_id: call.positionals[0] }, call)
    show(reply, ({ name }) => `Revoked ${safe(name)}: every server refuses its tokens within a minute.`, call)
    return 0
  },
})

function clientFacts(client: OAuthClient, { paint }: View): string {
  return renderFacts(
    [
      ['client id', client.client_id],
      ['name', safe(client.name)],
      ['sent back to', safe(client.redirect_uris.join(' '))],
    ],
    paint,
  )
}

function clientTable({ clients, next_cursor: cursor }: ClientPage, view: View): string {
  if (clients.length === 0) return 'No clients. Register one with: asyncgate clients register'
  const columns: Column<OAuthClient>[] = [
    { title: 'CLIENT ID', text: (client) => client.client_id },
    { title: 'STATUS', text: (client) => client.status },
    { title: 'NAME', text: (client) => client.name, shrinks: true },
    { title: 'SENT BACK TO', text: (client) => client.redirect_uris.join(' '), shrinks: true },
    { title: 'MADE', text: (client) => relativeTime(client.created_at, view.now) },
  ]
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${renderTable(clients, columns, view)}${more}`
}
