// One run: measures every row of a scenario as often as asked for, then shows and keeps the result. Whatever was started is
// stopped again, also on Ctrl-C.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createLab, type Lab } from './lab/lab.ts'
import { describeMachine } from './lab/machine.ts'
import { type PostgresGround, startPostgresGround } from './lab/postgres.ts'
import { summariseProfiles } from './profile/self-time.ts'
import { writeResult } from './report/files.ts'
import { createProgress, type Progress } from './report/progress.ts'
import type { MeasuredRow, Result } from './report/result.ts'
import { renderTable } from './report/table.ts'
import type { Bench, Row, Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { readSettings, type Settings, Usage } from './settings.ts'

const RESULTS = join(import.meta.dirname, 'results')

export async function bench(args: readonly string[]): Promise<number> {
  try {
    return await run(readSettings(args))
  } catch (error) {
    process.stderr.write(`${error instanceof Usage ? error.message : describe(error)}\n`)
    return error instanceof Usage ? 2 : 1
  }
}

async function run(settings: Settings): Promise<number> {
  const progress = createProgress()
  const lab = await createLab((text) => progress.show(text))
  const signalled = closeOnSignal(lab, progress)
  const startedAt = new Date().toISOString().replace(/[:.]/g, '-')
  const profileFolder = settings.profile
    ? join(RESULTS, `profiles-${settings.scenario}-${startedAt}`)
    : undefined
  if (profileFolder) mkdirSync(profileFolder, { recursive: true })
  const notes: string[] = []
  let ground: Promise<PostgresGround> | undefined
  const scenario = scenarios[settings.scenario]
  const tools: Bench = {
    lab,
    settings,
    count: settings.count ?? scenario.count,
    profileFolder,
    postgres: () => (ground ??= startPostgresGround(lab, { statistics: settings.profile })),
    note: (text) => {
      if (!notes.includes(text)) notes.push(text)
    },
  }
  try {
    const rows = await measureAll(scenario, { tools, progress })
    const postgres = ground === undefined ? undefined : (await ground).version
    const result: Result = {
      scenario: settings.scenario,
      settings: { ...settings, count: tools.count },
      machine: { ...describeMachine(), ...(postgres ? { postgres } : {}) },
      startedAt,
      rows,
      notes,
    }
    progress.end('')
    process.stdout.write(`${renderTable(scenario, result)}\n`)
    for (const file of writeResult(RESULTS, scenario, result)) process.stdout.write(`wrote ${file}\n`)
  } catch (error) {
    // What fails because everything is being closed is no failure; the process ends with it.
    await signalled()
    throw error
  } finally {
    await lab.close()
  }
  if (profileFolder) process.stdout.write(`\n${summariseProfiles(profileFolder)}\n`)
  return 0
}

/** A terminal and npm may both pass Ctrl-C on: closing begins once, and is not cut short by the second. Answers its end. */
function closeOnSignal(lab: Lab, progress: Progress): () => Promise<void> {
  let closing: Promise<void> | undefined
  const close = (code: number) => {
    if (closing === undefined) progress.end('stopping')
    closing ??= lab.close().then(() => process.exit(code))
  }
  process.on('SIGINT', () => close(130))
  process.on('SIGTERM', () => close(143))
  return async () => closing
}

interface Parts {
  readonly tools: Bench
  readonly progress: Progress
}

async function measureAll(scenario: Scenario, { tools, progress }: Parts): Promise<readonly MeasuredRow[]> {
  const rows = await scenario.rows(tools)
  const measured = rows.map((row): MeasuredRow => ({ label: row.label, samples: [] }))
  const dropped = new Set<Row>()
  for (const { row, at, round } of schedule(rows, tools.settings.repeat, scenario.order)) {
    if (dropped.has(row)) continue
    progress.begin(`${row.label}, ${round + 1} of ${tools.settings.repeat}`)
    try {
      const figures = await row.measure()
      measured[at]!.samples.push(figures)
      progress.done(scenario.columns.map(({ name, unit }) => ({ name, unit, value: figures[name] })))
    } catch (error) {
      // Without the first row there is nothing to compare with, and nobody is left once everything is being closed.
      if (at === 0 || tools.lab.closing()) throw error
      dropped.add(row)
      tools.note(`${row.label} dropped out: ${describe(error).split('\n').slice(0, 4).join(' | ')}`)
    }
  }
  return measured.filter(({ samples }) => samples.length > 0)
}

function schedule(rows: readonly Row[], repeat: number, order: Scenario['order']) {
  const rounds = Array.from({ length: repeat }, (_, round) => round)
  return order === 'alternating'
    ? rounds.flatMap((round) => rows.map((row, at) => ({ row, at, round })))
    : rows.flatMap((row, at) => rounds.map((round) => ({ row, at, round })))
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
