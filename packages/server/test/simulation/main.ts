// Many runs from the command line, for a soak or to repeat one seed:
//
//   npm run simulate -- [--seeds 10000] [--from 1] [--steps 300] [--bug 'the fence does not grow']
import { parseArgs } from 'node:util'
import { PLANTED_BUGS } from './planted-bugs.ts'
import { runSimulation, STEPS_DEFAULT, type Summary } from './simulation.ts'
import { Violation } from './violation.ts'

const PROGRESS_MS = 2_000

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    steps: { type: 'string', default: String(STEPS_DEFAULT) },
    bug: { type: 'string' },
  },
})
const from = Number(values.from)
const seeds = Number(values.seeds)
const steps = Number(values.steps)
const plant = values.bug === undefined ? undefined : PLANTED_BUGS[values.bug]
if (values.bug !== undefined && plant === undefined) {
  console.error(`No such bug. There are:\n${Object.keys(PLANTED_BUGS).join('\n')}`)
  process.exit(2)
}

const startedAt = performance.now()
const total = { tasks: 0, receipts: 0, acknowledged: 0 }
const counts = new Map<string, number>()
let shownAt = startedAt

for (let seed = from; seed < from + seeds; seed++) {
  try {
    add(await runSimulation({ seed, steps, ...(plant === undefined ? {} : { bug: plant() }) }))
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    console.error(`\n${error.message}`)
    if (error.cause instanceof Error) console.error(error.cause.stack)
    process.exit(1)
  }
  if (performance.now() - shownAt > PROGRESS_MS) {
    shownAt = performance.now()
    console.error(`${seed - from + 1} of ${seeds} seeds, ${seconds()} s`)
  }
}

for (const [what, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${String(count).padStart(10)}  ${what}`)
}
console.log(
  `\n${seeds} seeds × ${steps} steps from ${from}: ${total.tasks} tasks, ${total.receipts} receipts, ` +
    `${total.acknowledged} acknowledged facts, no violation, in ${seconds()} s`,
)

function seconds(): string {
  return ((performance.now() - startedAt) / 1_000).toFixed(1)
}

function add(summary: Summary): void {
  total.tasks += summary.tasks
  total.receipts += summary.receipts
  total.acknowledged += summary.acknowledged
  for (const [what, count] of summary.counts) counts.set(what, (counts.get(what) ?? 0) + count)
}
