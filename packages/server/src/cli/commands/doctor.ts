// asyncgate doctor
import { type Config, ConfigError } from '../../config.ts'
import { command } from '../command.ts'
import { checkChannels } from '../doctor/channel-checks.ts'
import { examineDatabase } from '../doctor/database-checks.ts'
import { EXPOSURE_CHECKS } from '../doctor/exposure-checks.ts'
import { fail, type Finding, ok } from '../doctor/finding.ts'
import { checkAccess, checkAddress, checkNode } from '../doctor/machine-checks.ts'
import { openStoreOf } from '../gate-access.ts'
import { show, type View } from '../server-call.ts'
import { type ConfiguredCall, DATABASE_OPTIONS, LISTEN_OPTIONS, readConfig } from '../server-options.ts'
import { safeLines } from '../text.ts'

type Findings = readonly { readonly check: string; readonly finding: Finding }[]

export const doctor = command({
  name: 'doctor',
  group: 'inspect',
  summary: 'Examine this machine, the configuration and the database, and say how to mend what is wrong.',
  details:
    'Changes nothing, but for an object that it puts into the bucket of the channel s3 and removes. Exit code 1 when a check fails; warnings alone are 0.',
  configured: true,
  options: { ...DATABASE_OPTIONS, ...LISTEN_OPTIONS, json: { kind: 'switch', about: 'Print JSON.' } },
  examples: [
    { line: 'asyncgate doctor', about: 'before a first start, or when something is odd' },
    { line: 'asyncgate doctor --config /etc/asyncgate.yaml --json', about: 'for a monitor' },
  ],
  async run(call) {
    const findings = await examine(call)
    show(
      findings.map(({ check, finding }) => ({ check, ...finding })),
      (_reply, view) => findingsText(findings, view),
      call,
    )
    return findings.some(({ finding }) => finding.status === 'fail') ? 1 : 0
  },
})

async function examine(call: ConfiguredCall): Promise<Findings> {
  const found: Record<string, Finding> = { node: checkNode(process.versions.node) }
  const config = configOrFinding(call)
  if ('status' in config) return listed({ ...found, configuration: config })
  found.configuration = ok('valid')
  found.access = checkAccess(config)
  found.address = await checkAddress(config)
  found.channels = await checkChannels(config)
  const { cwd, now } = call.terminal
  for (const [name, check] of Object.entries(EXPOSURE_CHECKS)) found[name] = check(config, now())
  const database = await examineDatabase(config, { cwd, now, openStore: openStoreOf })
  return listed({ ...found, ...database })
}

function configOrFinding(call: ConfiguredCall): Config | Finding {
  try {
    return readConfig(call).config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return fail(error.message, 'Correct the lines above; "asyncgate config" shows the result.')
  }
}

function listed(found: Readonly<Record<string, Finding>>): Findings {
  return Object.entries(found).map(([check, finding]) => ({ check, finding }))
}

const MARKS = {
  ok: ['green', 'ok'],
  warn: ['yellow', 'warn'],
  fail: ['red', 'FAIL'],
  skipped: ['dim', 'skip'],
} as const

function findingsText(findings: Findings, { paint }: View): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.map(({ check, finding }) => {
    const [style, mark] = MARKS[finding.status]
    const fix =
      'fix' in finding ? `\n${' '.repeat(width + 8)}${paint('bold', 'Fix:')} ${safeLines(finding.fix)}` : ''
    return `${paint(style, mark.padEnd(4))}  ${check.padEnd(width)}  ${safeLines(finding.message)}${fix}`
  })
  const count = (status: Finding['status']) =>
    findings.filter(({ finding }) => finding.status === status).length
  return `${lines.join('\n')}\n\n${verdictOf({ failed: count('fail'), warned: count('warn') })}`
}

function verdictOf({ failed, warned }: { failed: number; warned: number }): string {
  const several = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`
  const warnings = warned === 0 ? '' : ` ${several(warned, 'warning', 'warnings')}: see above.`
  if (failed > 0) return `${several(failed, 'check fails', 'checks fail')}.${warnings}`
  return warned === 0 ? 'Nothing is wrong.' : `Nothing fails.${warnings}`
}
