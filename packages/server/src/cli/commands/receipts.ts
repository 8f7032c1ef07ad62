// asyncgate receipts list | get, asyncgate obligations
import { contract, type GateContract, type Reply } from '@asyncgate/sdk'
import { command } from '../command.ts'
import { fieldsOf } from '../fields.ts'
import { callServer, SERVER_OPTIONS, show, type View } from '../server-call.ts'
import { type Column, renderFacts, renderTable } from '../table.ts'
import { jsonText } from '../task-text.ts'
import { relativeTime, safe } from '../text.ts'

type Receipt = Reply<GateContract['listReceipts']>['receipts'][number]
type Obligations = Reply<GateContract['openObligations']>

const SOME_ID = '0198c0de-0000-7000-8000-000000000002'

const principalText = ({ kind, id }: Receipt['from']) => `${kind}/${id}`

export const receiptsList = command({
  name: 'receipts list',
  group: 'inspect',
  summary: contract.listReceipts.summary,
  fields: () => fieldsOf(contract.listReceipts),
  options: SERVER_OPTIONS,
  examples: [
    {
      line: 'asyncgate receipts list --task-id 0198c0de-0000-7000-8000-000000000001',
      about: 'the history of one task',
    },
    { line: 'asyncgate receipts list --receipt-type task.result_ready', about: 'results that have come in' },
  ],
  async run(call) {
    show(await callServer('listReceipts', call.input, call), receiptPage, call)
    return 0
  },
})

function receiptPage(
  { receipts, next_cursor: cursor }: Reply<GateContract['listReceipts']>,
  view: View,
): string {
  if (receipts.length === 0) return 'No receipts match.'
  const more = cursor === null ? '' : `\n\nMore: repeat with --cursor ${safe(cursor)}`
  return `${receiptTable(receipts, view)}${more}`
}

function receiptTable(receipts: readonly Receipt[], view: View): string {
  const columns: Column<Receipt>[] = [
    { title: 'RECEIPT', text: (receipt) => receipt.receipt_id },
    { title: 'TYPE', text: (receipt) => receipt.receipt_type },
    { title: 'FROM', text: (receipt) => principalText(receipt.from), shrinks: true },
    { title: 'TO', text: (receipt) => principalText(receipt.to), shrinks: true },
    { title: 'WHEN', text: (receipt) => relativeTime(receipt.created_at, view.now) },
    { title: 'TASK', text: (receipt) => receipt.task_id ?? '' },
  ]
  return renderTable(receipts, columns, view)
}

export const receiptsGet = command({
  name: 'receipts get',
  group: 'inspect',
  summary: contract.getReceipt.summary,
  positionals: [{ name: 'receipt_id', about: 'The id that "receipts list" and "obligations" show.' }],
  options: SERVER_OPTIONS,
  examples: [
    {
      line: `asyncgate receipts get ${SOME_ID}`,
      about: 'the receipt, what it follows from, and what ended it',
    },
    {
      line: `asyncgate receipts get ${SOME_ID} --json`,
      about: 'with everything that its hash is taken over',
    },
  ],
  async run(call) {
    show(await callServer('getReceipt', { receipt_id: call.positionals[0] }, call), receiptFacts, call)
    return 0
  },
})

function receiptFacts(receipt: Reply<GateContract['getReceipt']>, { paint, now }: View): string {
  const chain = receipt.chain.map(({ receipt_id: id, receipt_type: type }) => `${id} ${safe(type)}`)
  return renderFacts(
    [
      ['receipt', receipt.receipt_id],
      ['type', safe(receipt.receipt_type)],
      ['from', safe(principalText(receipt.from))],
      ['to', safe(principalText(receipt.to))],
      ['when', `${relativeTime(receipt.created_at, now)} (${receipt.created_at})`],
      ['task', receipt.task_id],
      ['lease', receipt.lease_id],
      ['schedule', receipt.schedule_id && safe(receipt.schedule_id)],
      ['parents', receipt.parents.join('\n')],
      ['chain', chain.join('\n')],
      ['discharged by', receipt.discharged_by],
      ['hash', receipt.hash],
      ['body', jsonText(receipt.body)],
    ],
    paint,
  )
}

export const obligations = command({
  name: 'obligations',
  group: 'inspect',
  summary: contract.openObligations.summary,
  details: contract.openObligations.guide,
  fields: () => fieldsOf(contract.openObligations),
  options: SERVER_OPTIONS,
  examples: [
    { line: 'asyncgate obligations', about: 'owed to agent/default' },
    { line: 'asyncgate obligations --as agent/planner --json', about: 'owed to another, for a program' },
  ],
  async run(call) {
    show(await callServer('openObligations', call.input, call), obligationTable, call)
    return 0
  },
})

function obligationTable({ open_obligations: open, relationship, cursor }: Obligations, view: View): string {
  const owed = safe(`${relationship.principal_kind}/${relationship.principal_id}`)
  if (open.length === 0) return `Nothing is open: every obligation owed to ${owed} has been discharged.`
  const columns: Column<Receipt>[] = [
    { title: 'OBLIGATION', text: (receipt) => receipt.receipt_id },
    { title: 'TYPE', text: (receipt) => receipt.receipt_type },
    { title: 'OPEN SINCE', text: (receipt) => relativeTime(receipt.created_at, view.now) },
    { title: 'TASK', text: (receipt) => receipt.task_id ?? '' },
    { title: 'ABOUT', text: instructionText, shrinks: true },
  ]
  const more = cursor === null ? '' : `\nMore: repeat with --cursor ${safe(cursor)}`
  const count = `${open.length}${cursor === null ? '' : ' or more'} open for ${owed}.`
  const isSchedule = ({ receipt_type }: Receipt) => receipt_type === 'schedule.created'
  const looks = [
    ...(open.every(isSchedule) ? [] : ['asyncgate task get <task>']),
    ...(open.some(isSchedule) ? ['asyncgate schedule status <task>'] : []),
  ]
  return `${renderTable(open, columns, view)}\n\n${count} Look at one with: ${looks.join(', or a schedule: ')}${more}`
}

/** The instructions of a `task.assigned` name the type and, if its owner gave one, a summary; a schedule has a name. */
function instructionText({ body }: Receipt): string {
  const { type, summary } = (body.instructions ?? {}) as { type?: unknown; summary?: unknown }
  return [type, summary, body.name].filter((part) => typeof part === 'string').join(': ')
}
