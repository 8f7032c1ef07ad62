// asyncgate migrate
import { command } from '../command.ts'
import { bringUpToDate, openStoreOf } from '../gate-access.ts'
import { show } from '../server-call.ts'
import { DATABASE_OPTIONS, readConfig } from '../server-options.ts'

interface Migrated {
  readonly applied: readonly string[]
  readonly pending: readonly string[]
}

export const migrate = command({
  name: 'migrate',
  group: 'run',
  summary: 'Bring the database to the schema of this version.',
  details:
    'Migrations go forward only and are safe to run from several places at once. Servers run them at their start too. ' +
    'With database.migration_url they run under its role, and the role of database.url is granted what a server needs; ' +
    'a server can then be started without it.',
  configured: true,
  options: {
    'dry-run': {
      kind: 'switch',
      about: 'Only say what would be applied. Exit code 1 when there is something.',
    },
    ...DATABASE_OPTIONS,
    json: { kind: 'switch', about: 'Print JSON.' },
  },
  examples: [
    { line: 'asyncgate migrate --dry-run', about: 'what is missing?' },
    {
      line: 'ASYNCGATE_DATABASE_MIGRATION_URL=postgres://owner@db/gate asyncgate migrate --database postgres://gate@db/gate',
      about: 'under the role that owns the schema',
    },
  ],
  async run(call) {
    const { config } = readConfig(call)
    const store = await openStoreOf(config)
    try {
      const isDry = call.values['dry-run'] === true
      const applied = isDry ? [] : await bringUpToDate(store)
      const pending = isDry ? await store.pendingMigrations() : []
      show({ applied, pending }, migratedText, call)
      return pending.length > 0 ? 1 : 0
    } finally {
      await store.close()
    }
  },
})

function migratedText({ applied, pending }: Migrated): string {
  if (pending.length > 0) return `Would apply:\n${pending.map((name) => `  ${name}`).join('\n')}`
  if (applied.length > 0) return `Applied:\n${applied.map((name) => `  ${name}`).join('\n')}`
  return 'The schema is current.'
}
