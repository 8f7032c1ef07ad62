// asyncgate audit list
import { contract, type GateContract, type Reply } from '@asyncgate/sdk'
import { ACCESS_OPTIONS, callAccess } from '../access-call.ts'
import { command } from '../command.ts'
import { fieldsOf } from '../fields.ts'
import { principalText } from '../key-text.ts'
import { show, type View } from '../server-call.ts'
import { type Column, renderTable } from '../table.ts'
import { relativeTime, safe } from '../text.ts'

type AuditPage = Reply<GateContract['listAudit']>
type Row = AuditPage['audit'][number]

export const auditList = command({
  name: 'audit list',
  group: 'access',
  summary: contract.listAudit.summary,
  details: contract.listAudit.guide,
  configured: true,
  fields: () => fieldsOf(contract.listAudit),
  options: ACCESS_OPTIONS,
  examples: [
    { line: 'asyncgate audit list --severity critical', about: 'what an operator should look at first' },
    {
      line: 'asyncgate audit list --since 2027-01-01T00:00:00Z --event authentication.failed --json',
      about: 'for a program',
    },
  ],
  async run(call) {
    show(await callAccess('listAudit', call.input, call), auditTable, call)
    return 0
  },
})

const STYLES = { info: 'dim', warning: 'yellow', critical: 'red' } as const

function auditTable({ audit, next_cursor: cursor }: AuditPage, view: View): string {
  if (audit.length === 0) return 'Nothing is on record.'
  const columns: Column<Row>[] = [
    { title: 'WHEN', text: (row) => relativeTime(row.timestamp, view.now) },
    { title: 'SEVERITY', text: (row) => row.severity, style: (row) => STYLES[row.severity] },
    { title: 'EVENT', text: (row) => row.event },
    {
      title: 'PRINCIPAL',
      text: (row) => (row.principal === null ? '' : principalText({ principal: row.principal })),
      shrinks: true,
    },
    { title: 'ADDRESS', text: (row) => row.ip ?? '' },
    { title: 'REASON', text: (row) => row.reason, shrinks: true },
  ]
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${renderTable(audit, columns, view)}${more}`
}
