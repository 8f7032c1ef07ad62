// The page docs/reference/configuration.md, made from the schema.
import { type Key, KEYS } from './keys.ts'
import { PRESETS } from './preset.ts'

const INTRODUCTION = `# Configuration

<!-- Generated from packages/server/src/config/schema.ts by "npm run generate". Do not edit. -->

Settings come from these sources, each overriding the one before:

1. the defaults below;
2. a preset (\`--preset demo\`);
3. a YAML file: \`--config <file>\`, or \`asyncgate.yaml\` in the working folder if there is one;
4. environment variables;
5. flags of \`dev\`, \`serve\`, \`mcp\`, \`migrate\`, \`config\` and \`doctor\`.

The names follow one rule. The key \`lease.sweep_interval_seconds\` is

\`\`\`yaml
lease:
  sweep_interval_seconds: 5
\`\`\`

in the file, \`ASYNCGATE_LEASE_SWEEP_INTERVAL_SECONDS=5\` in the environment and
\`--lease-sweep-interval-seconds 5\` as a flag (\`--database\` is short for \`--database-url\`). In variables and flags,
items of a list are separated by commas. Unknown keys and variables are errors, so that a slip of the pen is
noticed at the start and not in production. \`asyncgate config\` prints what is in force and where it came from.

The commands that call a server (\`task\`, \`receipts\`, \`obligations\`, \`mcp --url\`) read two variables of their own:
\`ASYNCGATE_URL\` (default \`http://127.0.0.1:8420\`) and \`ASYNCGATE_API_KEY\`.
`

export function configurationReference(): string {
  const sections = [...Map.groupBy(KEYS, sectionOf)].map(([name, keys]) => `## ${name}\n\n${tableOf(keys)}`)
  return [INTRODUCTION, ...sections, presets()].join('\n')
}

function sectionOf({ name }: Key): string {
  return name.includes('.') ? name.slice(0, name.indexOf('.')) : 'server'
}

function tableOf(keys: readonly Key[]): string {
  const rows = keys.map(({ name, initial, expects, about, variable }) =>
    ['', `\`${name}\``, shown(initial), cell(expects), cell(about), `\`${variable}\``, ''].join(' | ').trim(),
  )
  return `| key | default | takes | what it is for | variable |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
}

function shown(value: unknown): string {
  if (value === null) return '*none*'
  if (Array.isArray(value)) return value.length === 0 ? '*empty list*' : `\`${value.join(',')}\``
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}

function presets(): string {
  const rows = Object.entries(PRESETS).map(([name, values]) => {
    const settings = Object.entries(values).map(([key, value]) => `\`${key}: ${value}\``)
    return `- \`${name}\`: ${settings.join(', ')}`
  })
  return `## Presets\n\n${rows.join('\n')}\n`
}
