// asyncgate scheduler
import { resolve } from 'node:path'
import { clientSettings } from '../../config.ts'
import { innermost } from '../cause.ts'
import { command } from '../command.ts'
import { Refusal } from '../failure.ts'
import { openLog, scheduler as openScheduler } from '../gate-access.ts'
import { SCHEDULER_FILE, SCHEDULER_ID } from '../schedule-call.ts'
import { SERVER_OPTIONS } from '../server-call.ts'
import { runUntilStopped } from '../stop.ts'

export const scheduler = command({
  name: 'scheduler',
  group: 'run',
  summary: 'Run schedules: create their tasks when they are due.',
  details:
    'Takes what "asyncgate schedule" asks for, and fires. Its key (ASYNCGATE_API_KEY) needs the scopes tasks:lease, tasks:write, ' +
    'receipts:read and receipts:write. Schedules are kept in the ledger, and what comes next in --file; started again after ' +
    'any end, it makes up for missed runs as each schedule says. Several may run side by side, on one file or each on its own, ' +
    'under one --id: each run still gives one task.',
  options: {
    file: { kind: 'text', shows: '<path>', about: `SQLite file of its own; default ${SCHEDULER_FILE}.` },
    id: {
      kind: 'text',
      shows: '<id>',
      about: `The service that it is, as its key says; default ${SCHEDULER_ID}.`,
    },
    url: SERVER_OPTIONS.url,
    json: { kind: 'switch', about: 'Log lines as JSON, on a terminal too.' },
  },
  examples: [
    { line: 'asyncgate scheduler', about: 'for the server on this machine' },
    {
      line: 'asyncgate scheduler --url https://gate.example.org --file /var/lib/asyncgate/scheduler.db --json',
      about: 'as a service',
    },
  ],
  async run({ values, terminal }) {
    const log = await openLog({
      log: { level: 'info', format: values.json ? 'json' : 'auto' },
      instanceId: 'auto',
    })
    const path = resolve(terminal.cwd, values.file ?? SCHEDULER_FILE)
    const schedules = await openScheduler({
      client: terminal.connect(clientSettings(values, terminal.env)),
      schedulerId: values.id ?? SCHEDULER_ID,
      path,
      log,
      stopOnSignals: false,
    }).catch((error: unknown) => {
      throw new Refusal(`The file ${path} cannot be used: ${innermost(error)}`)
    })
    await runUntilStopped(schedules, terminal)
    return 0
  },
})
