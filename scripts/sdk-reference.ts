// The page docs/reference/sdk.md: the public types of the SDK with their comments, taken from its sources.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { contract } from '../packages/sdk/src/index.ts'
import { wireName } from '../packages/sdk/src/contract/operation.ts'

const sources = join(dirname(import.meta.dirname), 'packages/sdk/src')

interface Section {
  readonly title: string
  readonly about: string
  /** Declarations by file, in the order in which they are shown. */
  readonly declarations: readonly (readonly [file: string, ...names: string[]])[]
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Client',
    about: 'Methods throw `GateError`: what the server refused, or that it could not be reached.',
    declarations: [
      ['client.ts', 'createClient', 'ClientOptions', 'CallOptions'],
      ['errors.ts', 'GateError'],
    ],
  },
  {
    title: 'Worker',
    about: 'See [workers](../workers.md) for how they go together.',
    declarations: [
      ['worker/worker.ts', 'createWorker', 'Worker', 'WorkerOptions', 'TaskOptions'],
      ['worker/execution.ts', 'Handler', 'TaskContext', 'Progress'],
      ['worker/outcome.ts', 'completed', 'Completion'],
      ['worker/errors.ts', 'RetryableError', 'FatalError', 'FailureOptions', 'LeaseEndedError', 'LeaseEnd'],
      ['worker/events.ts', 'WorkerEvent', 'TaskEnd', 'WorkerLog'],
      ['worker/clock.ts', 'WorkerClock'],
    ],
  },
]

export function sdkReference(): string {
  const sections = SECTIONS.map(({ title, about, declarations }) => {
    const texts = declarations.flatMap(([file, ...names]) => names.map((name) => declarationOf(file, name)))
    const methods = title === 'Client' ? `${methodTable()}\n` : ''
    return `## ${title}\n\n${about}\n\n${methods}\`\`\`ts\n${texts.join('\n\n')}\n\`\`\`\n`
  })
  return [INTRODUCTION, ...sections].join('\n')
}

const INTRODUCTION = `# SDK

<!-- Generated from packages/sdk/src by "npm run generate". Do not edit. -->

What \`import { … } from '@asyncgate/sdk'\` offers, besides the contract itself (\`contract\`, its schemas and limits) and \`canonicalJson\`.
`

function methodTable(): string {
  const rows = Object.entries(contract).map(
    ([key, { summary }]) =>
      `| \`${key}\` | [${wireName(key)}](operations.md#${wireName(key)}) | ${summary} |`,
  )
  return `| method | operation | |\n|---|---|---|\n${rows.join('\n')}\n`
}

/** The sources are formatted: what is declared at the top of a file begins in the first column, and so does its end. */
function declarationOf(file: string, name: string): string {
  const text = readFileSync(join(sources, file), 'utf8')
  const pattern = new RegExp(
    `((?:/\\*\\*(?:(?!\\*/)[^])*\\*/\\n)?)export (?:interface|type|class|function) ${name}\\b[^]*?(?=\\n\\n(?=\\S)|\\n$|$(?![^]))`,
  )
  const [found] = pattern.exec(text) ?? []
  if (found === undefined) throw new Error(`${file} has no ${name}`)
  return withoutBodies(found.trimEnd())
}

/** What a function or a method does is no part of its type. */
function withoutBodies(declaration: string): string {
  return declaration
    .replace(/^(export function [^]*?) \{\n[^]*\n\}$/m, '$1')
    .replace(/^( {2}(?:constructor|get )[^]*?) \{\n(?: {4}.*\n|\n)* {2}\}$/gm, '$1')
    .replace(/^( {2}\w+\(.*\): \w+) \{\n(?: {4}.*\n)* {2}\}$/gm, '$1')
    .replace(/^export /gm, '')
}
