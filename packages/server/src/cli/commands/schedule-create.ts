// asyncgate schedule create
import { MISFIRE_POLICIES } from '../../scheduler/misfire.ts'
import { command } from '../command.ts'
import { UsageError } from '../failure.ts'
import { askScheduler, SCHEDULE_OPTIONS } from '../schedule-call.ts'
import { type Schedule, scheduleFacts } from '../schedule-text.ts'
import { show } from '../server-call.ts'

export const scheduleCreate = command({
  name: 'schedule create',
  group: 'schedules',
  summary: 'Create tasks again and again: by the calendar of a time zone, or every so many seconds.',
  details:
    'A scheduler must be running ("asyncgate scheduler"; "asyncgate dev" has one). In texts of the payload {{run_at}}, {{now}} and ' +
    '{{schedule_id}} are put in for each run. The schedule is an obligation of yours until you delete it.',
  positionals: [{ name: 'name', about: 'What people call it, e.g. "every weekday at 7".' }],
  options: {
    type: { kind: 'text', required: true, about: 'The type of its tasks.' },
    cron: {
      kind: 'text',
      shows: '<expression>',
      about: 'Five fields: minute, hour, day of month, month, day of week.',
    },
    tz: { kind: 'text', shows: '<zone>', about: 'Time zone of --cron, e.g. Europe/Berlin; default UTC.' },
    every: {
      kind: 'whole',
      shows: '<seconds>',
      about: 'Instead of --cron: run every so many seconds from now.',
    },
    payload: { kind: 'json', about: 'The payload of its tasks, with words to be put in.' },
    capability: { kind: 'list', about: 'All of these the worker must have; repeat it or use commas.' },
    tag: { kind: 'list', about: 'Labels to find its tasks by; repeat it or use commas.' },
    priority: { kind: 'whole', about: 'Of its tasks; higher goes first.' },
    misfire: {
      kind: 'text',
      choices: MISFIRE_POLICIES,
      about: 'Of runs found more than a minute late, fire none, the last or all; default catch_up_one.',
    },
    'jitter-seconds': {
      kind: 'whole',
      shows: '<seconds>',
      about: 'Spread the start of its tasks over this long after each run time.',
    },
    ...SCHEDULE_OPTIONS,
  },
  examples: [
    {
      line: `asyncgate schedule create "every weekday at 7" --cron "0 7 * * 1-5" --tz Europe/Berlin --type report --payload '{"day":"{{run_at}}"}'`,
      about: 'at 7 in Berlin, in summer and in winter',
    },
    {
      line: 'asyncgate schedule create heartbeat --every 900 --type echo --misfire skip --json',
      about: 'every quarter of an hour; what was missed is left out',
    },
  ],
  async run(call) {
    const { values, positionals } = call
    const { capability, tag, priority, payload } = values
    const request = {
      name: positionals[0],
      ...timingOf(values),
      ...(values.tz !== undefined && { timezone: values.tz }),
      ...(values.misfire !== undefined && { misfire_policy: values.misfire }),
      ...(values['jitter-seconds'] !== undefined && { jitter_seconds: values['jitter-seconds'] }),
      task_template: {
        type: values.type,
        ...(payload !== undefined && { payload_template: payload }),
        ...((capability || tag) && { requirements: { capabilities: capability ?? [], tags: tag ?? [] } }),
        ...(priority !== undefined && { priority }),
      },
    }
    const schedule = await askScheduler<Schedule>({ type: 'schedule.create', payload: request }, call)
    show(schedule, scheduleFacts, call)
    return 0
  },
})

function timingOf({ cron, every }: { cron?: string | undefined; every?: number | undefined }): object {
  if ((cron === undefined) === (every === undefined))
    throw new UsageError('Give either --cron or --every: when does it run?')
  return cron === undefined
    ? { mode: 'interval', interval_seconds: every }
    : { mode: 'cron', cron_expr: cron }
}
