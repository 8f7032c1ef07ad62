// asyncgate accounts create | list | password | disable | enable
import { contract, type GateContract, type Operation, type Reply } from '@asyncgate/sdk'
import { ACCESS_OPTIONS, callAccess } from '../access-call.ts'
import { type Command, command } from '../command.ts'
import { fieldsOf } from '../fields.ts'
import { principalText } from '../key-text.ts'
import { principalOf, show, type View } from '../server-call.ts'
import { type Column, renderFacts, renderTable } from '../table.ts'
import { relativeTime, safe } from '../text.ts'

type Account = Reply<GateContract['enableAccount']>
type AccountPage = Reply<GateContract['listAccounts']>

const ACCOUNT_ID = [{ name: 'account_id', about: 'The id that "accounts list" shows.' }] as const
const SOME_ID = '0198c0de-0000-7000-8000-000000000004'

export const accountsCreate = command({
  name: 'accounts create',
  group: 'access',
  summary: contract.createAccount.summary,
  details:
    'The password is asked for, or read from the standard input; it is never an argument. With --subject the person signs in ' +
    'at the OpenID provider of the server instead.',
  configured: true,
  fields: () => fieldsOf(contract.createAccount, { except: ['principal', 'password'] }),
  options: {
    principal: {
      kind: 'text',
      shows: '<kind/id>',
      required: true,
      about: 'Who acts with tokens of this account, e.g. human/ada.',
    },
    ...ACCESS_OPTIONS,
  },
  examples: [
    {
      line: 'asyncgate accounts create --username ada --role admin --principal human/ada',
      about: 'asks for a password',
    },
    {
      line: 'asyncgate accounts create --username eve --role agent --principal human/eve --subject 248289761001',
      about: 'signs in at the OpenID provider',
    },
  ],
  async run(call) {
    const { kind, id } = principalOf('--principal', call.values.principal)
    const isElsewhere = call.input['subject'] !== undefined
    const password = isElsewhere ? {} : { password: await call.terminal.readSecret('Password: ') }
    const input = { ...call.input, ...password, principal: { principal_kind: kind, principal_id: id } }
    show(await callAccess('createAccount', input, call), accountFacts, call)
    return 0
  },
})

export const accountsList = command({
  name: 'accounts list',
  group: 'access',
  summary: contract.listAccounts.summary,
  configured: true,
  fields: () => fieldsOf(contract.listAccounts),
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate accounts list', about: 'on the configured database' },
    { line: 'asyncgate accounts list --url https://gate.example.org --json', about: 'of a running server' },
  ],
  async run(call) {
    show(await callAccess('listAccounts', call.input, call), accountTable, call)
    return 0
  },
})

export const accountsPassword = command({
  name: 'accounts password',
  group: 'access',
  summary: contract.setAccountPassword.summary,
  details: `${contract.setAccountPassword.guide} The password is asked for, or read from the standard input.`,
  positionals: ACCOUNT_ID,
  configured: true,
  options: ACCESS_OPTIONS,
  examples: [
    { line: `asyncgate accounts password ${SOME_ID}`, about: 'asks for it' },
    { line: `openssl rand -base64 24 | asyncgate accounts password ${SOME_ID}`, about: 'a random one' },
  ],
  async run(call) {
    const password = await call.terminal.readSecret('New password: ')
    const input = { account_id: call.positionals[0], password }
    const reply = await callAccess('setAccountPassword', input, call)
    show(reply, ({ signs_in_as: name }) => `${safe(name)} has a new password and signs in anew.`, call)
    return 0
  },
})

export const accountsDisable = changing('disableAccount', 'disable', [
  { line: `asyncgate accounts disable ${SOME_ID}`, about: 'its tokens end within a minute' },
  { line: 'asyncgate accounts list', about: 'find the id by the name' },
])

export const accountsEnable = changing('enableAccount', 'enable', [
  { line: `asyncgate accounts enable ${SOME_ID}`, about: 'the person can sign in again' },
  { line: 'asyncgate accounts list', about: 'which are disabled?' },
])

function changing(key: 'disableAccount' | 'enableAccount', verb: string, examples: Command['examples']) {
  const { summary, guide } = contract[key] as Operation
  return command({
    name: `accounts ${verb}`,
    group: 'access',
    summary,
    details: guide,
    positionals: ACCOUNT_ID,
    configured: true,
    options: ACCESS_OPTIONS,
    examples,
    async run(call) {
      const reply = await callAccess(key, { account_id: call.positionals[0] }, call)
      show(reply, ({ signs_in_as: name, status }) => `${safe(name)} is ${status}.`, call)
      return 0
    },
  })
}

function accountFacts(account: Account, { paint }: View): string {
  return renderFacts(
    [
      ['signs in as', safe(account.signs_in_as)],
      ['account id', account.account_id],
      ['principal', safe(principalText(account))],
      ['role', account.role],
      ['by', account.has_password ? 'password' : 'the OpenID provider'],
    ],
    paint,
  )
}

function accountTable({ accounts, next_cursor: cursor }: AccountPage, view: View): string {
  if (accounts.length === 0) return 'No accounts. Make one with: asyncgate accounts create'
  const columns: Column<Account>[] = [
    { title: 'ACCOUNT ID', text: (account) => account.account_id },
    { title: 'SIGNS IN AS', text: (account) => account.signs_in_as, shrinks: true },
    { title: 'STATUS', text: (account) => account.status },
    { title: 'ROLE', text: (account) => account.role },
    { title: 'PRINCIPAL', text: principalText, shrinks: true },
    { title: 'MADE', text: (account) => relativeTime(account.created_at, view.now) },
  ]
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${renderTable(accounts, columns, view)}${more}`
}
