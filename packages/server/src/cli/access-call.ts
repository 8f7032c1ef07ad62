// What the commands about access share: they work on the configured database, since the first key of all can be made nowhere
// else, or on a running server with a key of an administrator. Both go through the same operations.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { contract, type GateContract, type OperationKey, type Reply, type Scope } from '@asyncgate/sdk'
import { type Caller, DEFAULT_TENANT } from '../auth/caller.ts'
import { clientSettings, hidePassword } from '../config.ts'
import type { Options } from './command.ts'
import { Refusal, UsageError } from './failure.ts'
import { openLog } from './gate-access.ts'
import { callServer } from './server-call.ts'
import { type ConfiguredCall, DATABASE_OPTIONS, readConfig } from './server-options.ts'
import type { Terminal } from './terminal.ts'

export const ACCESS_OPTIONS = {
  tenant: {
    kind: 'text',
    shows: '<id>',
    about: 'The tenant, on the database; default "default". Over --url it is that of the key.',
  },
  url: {
    kind: 'text',
    shows: '<url>',
    about:
      'A running server, with the key of an administrator in ASYNCGATE_API_KEY, instead of the database; also by ' +
      'ASYNCGATE_URL, where neither --database nor --tenant names a database.',
  },
  ...DATABASE_OPTIONS,
  json: { kind: 'switch', about: 'Print the exact reply as JSON.' },
} as const satisfies Options

export interface AccessCall extends ConfiguredCall {
  readonly values: { readonly url?: string | undefined; readonly tenant?: string | undefined }
  readonly terminal: Terminal
}

export async function callAccess<K extends OperationKey>(
  operation: K,
  input: Readonly<Record<string, unknown>>,
  call: AccessCall,
): Promise<Reply<GateContract[K]>> {
  const { tenant } = call.values
  const url = urlOf(call)
  if (url === undefined) return callDatabase(operation, input, call)
  if (tenant !== undefined)
    throw new UsageError('--tenant goes with a database; over --url it is that of the key.')
  return callServer(operation, input, {
    values: { url: clientSettings({ url }, call.terminal.env).url },
    terminal: call.terminal,
  })
}

/** Who has named a server for all commands means it here too, unless a database is named. */
function urlOf({ values, settings, terminal }: AccessCall): string | undefined {
  if (values.url !== undefined) return values.url
  const isOnDatabase = [settings['database'], settings['config'], values.tenant].some(
    (given) => given !== undefined,
  )
  return isOnDatabase ? undefined : terminal.env.ASYNCGATE_URL || undefined
}

async function callDatabase<K extends OperationKey>(
  operation: K,
  input: Readonly<Record<string, unknown>>,
  call: AccessCall,
): Promise<Reply<GateContract[K]>> {
  const { config } = readConfig(call, { 'log-level': 'warn' })
  if (config.database.url === 'memory:')
    throw new Refusal(
      'In memory: everything would be lost at once. Give a database, or a running server with --url.',
    )
  const file = fileOf(config.database.url, call.terminal.cwd)
  const isNew = file !== undefined && !existsSync(file)
  if (isNew && contract[operation].effect === 'read')
    throw new Refusal(
      `There is no database ${file}. Name a running server with --url, or one with --database.`,
    )
  const { openGate } = await import('../gate.ts')
  const gate = await openGate(config, { log: await openLog(config) })
  try {
    const tenantId = call.values.tenant ?? DEFAULT_TENANT
    if ((await gate.store.readTenant(tenantId)) === null)
      throw new Refusal(`There is no tenant ${tenantId}. Add it with: asyncgate tenants create ${tenantId}`)
    const caller = await ownerOf(tenantId)
    const reply = await gate.dispatch(operation, input, { caller })
    const note = isNew ? ', which is new: only a server on this very database knows of it' : ''
    // People may have meant another one; programs have named theirs.
    if (isNew || call.terminal.err.isTTY)
      call.terminal.err.write(`On ${file ?? hidePassword(config.database.url)}${note}.\n`)
    // The door is untyped by design; the contract ties the operation to its reply.
    return reply as Reply<GateContract[K]>
  } finally {
    await gate.stop()
  }
}

function fileOf(url: string, cwd: string): string | undefined {
  return url.startsWith('sqlite:') ? resolve(cwd, url.slice('sqlite:'.length)) : undefined
}

/** Who holds the database holds everything in it. */
async function ownerOf(tenantId: string): Promise<Caller> {
  const { SCOPES } = await import('@asyncgate/sdk')
  const principal = { kind: 'human', id: 'operator' } as const
  return { tenantId, principal, role: 'operator', scopes: new Set<Scope>(SCOPES), speaksForAll: false }
}
