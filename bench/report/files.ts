// Keeps a run's result beside the bench: JSON with every sample, and a plot.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scenario } from '../scenario.ts'
import { renderPlot } from './plot.ts'
import type { Result } from './result.ts'

/** Answers the names of the files. */
export function writeResult(folder: string, scenario: Scenario, result: Result): readonly string[] {
  mkdirSync(folder, { recursive: true })
  const name = `${result.scenario}-${result.settings.store}-${result.startedAt}`
  const files = [
    { file: join(folder, `${name}.json`), text: `${JSON.stringify(result, null, 2)}\n` },
    { file: join(folder, `${name}.svg`), text: renderPlot(scenario, result) },
  ]
  for (const { file, text } of files) writeFileSync(file, text)
  return files.map(({ file }) => file)
}
