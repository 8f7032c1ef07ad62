// What a tenant has used of its quotas: sums in its row of `ledgers`, which extend_ledger keeps (statements/ledger.ts).
import type { Usage } from '../../../engine/usage.ts'
import { query, type Session } from '../session.ts'

const READ_USAGE = query(
  'read_usage',
  () => 'select active_tasks, receipt_bytes from ledgers where tenant_id = $1',
)

export async function readUsage(session: Session, tenantId: string): Promise<Usage> {
  const [row] = await session.all<{ active_tasks: number; receipt_bytes: number }>(READ_USAGE, [tenantId])
  return { activeTasks: row?.active_tasks ?? 0, receiptBytes: row?.receipt_bytes ?? 0 }
}
