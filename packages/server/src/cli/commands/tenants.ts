// asyncgate tenants create | list | limit | suspend | resume | key
import { contract, type GateContract, type Operation, type Reply } from '@asyncgate/sdk'
import { ACCESS_OPTIONS, callAccess } from '../access-call.ts'
import { type Command, command } from '../command.ts'
import { fieldsOf } from '../fields.ts'
import { newKeyFacts } from '../key-text.ts'
import { principalOf, show, type View } from '../server-call.ts'
import { type Column, renderFacts, renderTable } from '../table.ts'
import { relativeTime, safe } from '../text.ts'

type Tenant = Reply<GateContract['resumeTenant']>
type TenantPage = Reply<GateContract['listTenants']>

const TENANT_ID = [
  { name: 'tenant_id', about: 'Lower-case letters, digits, dashes and underscores.' },
] as const
const { tenant: _tenant, ...OPTIONS } = ACCESS_OPTIONS

export const tenantsCreate = command({
  name: 'tenants create',
  group: 'access',
  summary: contract.createTenant.summary,
  details: 'Works on the configured database; with --url on a running server, with the key of an operator.',
  positionals: TENANT_ID,
  configured: true,
  fields: () => fieldsOf(contract.createTenant, { except: ['tenant_id'] }),
  options: OPTIONS,
  examples: [
    { line: 'asyncgate tenants create acme --name "Acme Inc."', about: 'then make its first key' },
    { line: 'asyncgate tenants key acme --principal human/wile', about: 'the key of its administrator' },
  ],
  async run(call) {
    const reply = await callAccess('createTenant', { ...call.input, tenant_id: call.positionals[0] }, call)
    const verb = reply.is_duplicate ? 'Is there already' : 'Added'
    show(reply, ({ tenant_id: id, status }) => `${verb}: ${id} (${status})`, call)
    return 0
  },
})

export const tenantsList = command({
  name: 'tenants list',
  group: 'access',
  summary: contract.listTenants.summary,
  configured: true,
  fields: () => fieldsOf(contract.listTenants),
  options: OPTIONS,
  examples: [
    { line: 'asyncgate tenants list', about: 'on the configured database' },
    { line: 'asyncgate tenants list --url https://gate.example.org --json', about: 'of a running server' },
  ],
  async run(call) {
    show(await callAccess('listTenants', call.input, call), tenantTable, call)
    return 0
  },
})

export const tenantsLimit = command({
  name: 'tenants limit',
  group: 'access',
  summary: contract.limitTenant.summary,
  details: contract.limitTenant.guide,
  positionals: TENANT_ID,
  configured: true,
  fields: () => fieldsOf(contract.limitTenant, { except: ['tenant_id'] }),
  options: OPTIONS,
  examples: [
    { line: 'asyncgate tenants limit acme --tier paid', about: 'the figures of the tier' },
    {
      line: 'asyncgate tenants limit acme --tier paid --active-tasks 500000',
      about: 'with more of one thing',
    },
  ],
  async run(call) {
    const reply = await callAccess('limitTenant', { ...call.input, tenant_id: call.positionals[0] }, call)
    show(reply, limitFacts, call)
    return 0
  },
})

export const tenantsSuspend = changing('suspendTenant', 'suspend', [
  { line: 'asyncgate tenants suspend acme', about: 'every server refuses its keys within a minute' },
  { line: 'asyncgate tenants resume acme', about: 'undoes it' },
])

export const tenantsResume = changing('resumeTenant', 'resume', [
  { line: 'asyncgate tenants resume acme', about: 'its keys work again within a minute' },
  { line: 'asyncgate tenants list', about: 'which are suspended?' },
])

function changing(key: 'suspendTenant' | 'resumeTenant', verb: string, examples: Command['examples']) {
  const { summary, guide } = contract[key] as Operation
  return command({
    name: `tenants ${verb}`,
    group: 'access',
    summary,
    details: guide,
    positionals: TENANT_ID,
    configured: true,
    options: OPTIONS,
    examples,
    async run(call) {
      show(await callAccess(key, { tenant_id: call.positionals[0] }, call), statusText, call)
      return 0
    },
  })
}

export const tenantsKey = command({
  name: 'tenants key',
  group: 'access',
  summary: contract.createTenantKey.summary,
  details: contract.createTenantKey.guide,
  positionals: TENANT_ID,
  configured: true,
  fields: () => fieldsOf(contract.createTenantKey, { except: ['tenant_id', 'principal'] }),
  options: {
    principal: {
      kind: 'text',
      shows: '<kind/id>',
      required: true,
      about: 'Who calls with it, e.g. human/ada.',
    },
    ...OPTIONS,
  },
  examples: [
    { line: 'asyncgate tenants key acme --principal human/wile', about: 'the key is shown this once' },
    {
      line: 'asyncgate tenants key acme --principal human/wile --json',
      about: 'the key is "api_key" of the reply',
    },
  ],
  async run(call) {
    const { kind, id } = principalOf('--principal', call.values.principal)
    const principal = { principal_kind: kind, principal_id: id }
    const input = { ...call.input, tenant_id: call.positionals[0], principal }
    show(await callAccess('createTenantKey', input, call), newKeyFacts, call)
    return 0
  },
})

function statusText({ tenant_id: id, status }: Tenant): string {
  return `${id} is ${status}.`
}

function limitFacts({ tenant_id: id, tier, limits }: Tenant, { paint }: View): string {
  const figures = Object.entries(limits).map(
    ([name, limit]) => [name.replaceAll('_', ' '), limit === 0 ? 'unlimited' : String(limit)] as const,
  )
  return renderFacts([['tenant', id], ['tier', tier], ...figures], paint)
}

function tenantTable({ tenants, next_cursor: cursor }: TenantPage, view: View): string {
  const columns: Column<Tenant>[] = [
    { title: 'TENANT', text: (tenant) => tenant.tenant_id },
    { title: 'STATUS', text: (tenant) => tenant.status },
    { title: 'TIER', text: (tenant) => tenant.tier },
    { title: 'ADDED', text: (tenant) => relativeTime(tenant.created_at, view.now) },
    { title: 'NAME', text: (tenant) => tenant.name ?? '', shrinks: true },
  ]
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${renderTable(tenants, columns, view)}${more}`
}
