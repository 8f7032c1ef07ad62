// asyncgate schedule list | status | pause | resume | delete
import { type Command, command } from '../command.ts'
import { askScheduler, SCHEDULE_OPTIONS } from '../schedule-call.ts'
import { type Schedule, scheduleFacts, type SchedulePage, scheduleTable } from '../schedule-text.ts'
import { show } from '../server-call.ts'

const SCHEDULE_ID = [
  { name: 'schedule_id', about: 'The id that "schedule create" and "schedule list" show.' },
] as const
const SOME_ID = '0198c0de-0000-7000-8000-000000000004'

export const scheduleList = command({
  name: 'schedule list',
  group: 'schedules',
  summary: 'List your schedules, with the next run of each.',
  options: {
    cursor: { kind: 'text', shows: '<text>', about: 'The cursor of the previous page, unchanged.' },
    ...SCHEDULE_OPTIONS,
  },
  examples: [
    { line: 'asyncgate schedule list', about: 'those of agent/default' },
    { line: 'asyncgate schedule list --as agent/planner --json', about: "another's, for a program" },
  ],
  async run(call) {
    const { cursor } = call.values
    const payload = cursor === undefined ? {} : { cursor }
    show(await askScheduler<SchedulePage>({ type: 'schedule.list', payload }, call), scheduleTable, call)
    return 0
  },
})

/** Those that name one schedule and show how it stands then. */
function onOne(
  kind: 'status' | 'pause' | 'resume',
  { summary, example }: { summary: string; example: string },
): Command {
  return command({
    name: `schedule ${kind}`,
    group: 'schedules',
    summary,
    positionals: SCHEDULE_ID,
    options: SCHEDULE_OPTIONS,
    examples: [
      { line: `asyncgate schedule ${kind} ${SOME_ID}`, about: example },
      { line: `asyncgate schedule ${kind} ${SOME_ID} --json`, about: 'the whole schedule, for a program' },
    ],
    async run(call) {
      const payload = { schedule_id: call.positionals[0] }
      show(await askScheduler<Schedule>({ type: `schedule.${kind}`, payload }, call), scheduleFacts, call)
      return 0
    },
  })
}

export const scheduleStatus = onOne('status', {
  summary: 'Show one schedule: its next five runs, its last one, and what went wrong.',
  example: 'times are those of its time zone',
})

export const schedulePause = onOne('pause', {
  summary: 'Let a schedule rest; runs in the meantime are not made up for.',
  example: 'until "schedule resume"',
})

export const scheduleResume = onOne('resume', {
  summary: 'Let a paused schedule go on with its next run.',
  example: 'shows when that is',
})

export const scheduleDelete = command({
  name: 'schedule delete',
  group: 'schedules',
  summary: 'End a schedule, and discharge its obligation. Tasks that it has made stay.',
  positionals: SCHEDULE_ID,
  options: SCHEDULE_OPTIONS,
  examples: [
    { line: `asyncgate schedule delete ${SOME_ID}`, about: 'it makes no more tasks' },
    { line: 'asyncgate schedule list', about: 'find the id' },
  ],
  async run(call) {
    const payload = { schedule_id: call.positionals[0] }
    const reply = await askScheduler<object>({ type: 'schedule.delete', payload }, call)
    show(reply, () => 'Deleted: it makes no more tasks, and its obligation is discharged.', call)
    return 0
  },
})
