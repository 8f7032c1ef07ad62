// asyncgate config
import { describeConfig } from '../../config.ts'
import { command } from '../command.ts'
import { show, type View } from '../server-call.ts'
import { DATABASE_OPTIONS, LISTEN_OPTIONS, readConfig } from '../server-options.ts'
import { type Column, renderTable } from '../table.ts'

type Described = ReturnType<typeof describeConfig>

export const config = command({
  name: 'config',
  group: 'inspect',
  summary: 'Print every setting, its value and where it came from. Secrets are hidden.',
  configured: true,
  options: { ...DATABASE_OPTIONS, ...LISTEN_OPTIONS, json: { kind: 'switch', about: 'Print JSON.' } },
  examples: [
    { line: 'asyncgate config', about: 'what a server started here would run with' },
    { line: 'asyncgate config --config /etc/asyncgate.yaml --json', about: 'another file, for a program' },
  ],
  async run(call) {
    show(describeConfig(readConfig(call)), configTable, call)
    return 0
  },
})

function configTable(keys: Described, view: View): string {
  const columns: Column<Described[number]>[] = [
    { title: 'KEY', text: ({ key }) => key },
    {
      title: 'VALUE',
      text: ({ value }) => valueText(value),
      style: ({ source }) => (source === 'default' ? 'dim' : 'bold'),
    },
    { title: 'FROM', text: ({ where }) => where },
    { title: 'ABOUT', text: ({ about }) => about, shrinks: true },
  ]
  return renderTable(keys, columns, view)
}

function valueText(value: unknown): string {
  if (value === null) return '-'
  if (Array.isArray(value)) return value.join(', ') || '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
