// The scheduler's side of the ledger. A schedule is what its receipts say: whatever changes one is submitted first and learned from
// there, by this scheduler and by any other of the same name, whatever file it has.
import { type Client, GateError } from '@asyncgate/sdk'
import type { ScheduleFile } from './file.ts'
import { type Followed, LEDGER_TYPES, type LedgerType, newsOf, type Receipt, sameFollowed } from './news.ts'
import type { Owner } from './schedule.ts'

export interface Fact {
  readonly type: LedgerType | 'schedule.overdue'
  readonly scheduleId: string
  readonly owner: Owner
  readonly taskId?: string
  readonly parents?: readonly string[]
  readonly body?: Readonly<Record<string, unknown>>
}

export interface ScheduleLedger {
  /** The same fact again is the same receipt. */
  submit(fact: Fact): Promise<void>
  /** Reads what is new into the file. */
  follow(): Promise<void>
  /** Whether that task has left a receipt of this type. */
  wasSubmittedFor(taskId: string, type: LedgerType): Promise<boolean>
}

export interface LedgerParts {
  readonly client: Client
  readonly schedulerId: string
  readonly file: Pick<ScheduleFile, 'followed' | 'learn'>
  readonly onOtherLedger: () => void
}

export function createScheduleLedger({
  client,
  schedulerId,
  file,
  onOtherLedger,
}: LedgerParts): ScheduleLedger {
  const self = { principal_kind: 'service', principal_id: schedulerId } as const
  const fromSelf = { ...self, from_kind: 'service', from_id: schedulerId } as const
  let turn: Promise<void> = Promise.resolve()

  async function list(type: LedgerType, since: string | undefined): Promise<Receipt[]> {
    const receipts: Receipt[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<Client['listReceipts']>> = await client.listReceipts({
        ...fromSelf,
        receipt_type: type,
        ...(since !== undefined && { since_receipt_id: since }),
        ...(cursor !== null && { cursor }),
      })
      receipts.push(...page.receipts)
      cursor = page.next_cursor
    } while (cursor !== null)
    return receipts
  }

  async function read(before: Followed, isWhole: boolean) {
    const found: Partial<Record<LedgerType, Receipt[]>> = {}
    for (const type of LEDGER_TYPES) found[type] = await list(type, isWhole ? undefined : before[type])
    return newsOf(found as Record<LedgerType, Receipt[]>, { before: isWhole ? {} : before, isWhole })
  }

  /** A receipt that was read and is gone: the server has another ledger, or has archived it. All is read again. */
  async function readAny(before: Followed) {
    try {
      return await read(before, false)
    } catch (error) {
      if (!(error instanceof GateError) || error.code !== 'not_found') throw error
      onOtherLedger()
      return read(before, true)
    }
  }

  async function catchUp(): Promise<void> {
    for (let isDone = false; !isDone; ) {
      const before = file.followed()
      const news = await readAny(before)
      isDone = (!news.isWhole && sameFollowed(news.followed, before)) || file.learn(before, news)
    }
  }

  return {
    submit: async ({ type, scheduleId, owner, taskId, parents = [], body = {} }) => {
      await client.submitReceipt({
        ...self,
        receipt_type: type,
        to: { kind: owner.principal_kind, id: owner.principal_id },
        schedule_id: scheduleId,
        parents: [...parents],
        body: { ...body },
        ...(taskId !== undefined && { task_id: taskId }),
      })
    },
    follow: () => {
      // One after the other: whoever asks wants to know what was submitted before.
      turn = turn.catch(() => {}).then(catchUp)
      return turn
    },
    wasSubmittedFor: async (taskId, type) => {
      const { receipts } = await client.listReceipts({ ...fromSelf, task_id: taskId, receipt_type: type })
      return receipts.length > 0
    },
  }
}
