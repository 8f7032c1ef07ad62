// What a tenant has used of its quotas: sums that stand with the last segment of its ledger (statements/ledger.ts).
import type { Usage } from '../../../engine/usage.ts'
import { query, type Session } from '../session.ts'

const READ_USAGE = query(
  'read_usage',
  () => `
    select active_tasks, receipt_bytes from ledger_segments
    where tenant_id = $1
    order by first_position desc
    limit 1`,
)

export async function readUsage(session: Session, tenantId: string): Promise<Usage> {
  const [row] = await session.all<{ active_tasks: number; receipt_bytes: number }>(READ_USAGE, [tenantId])
  return { activeTasks: row?.active_tasks ?? 0, receiptBytes: row?.receipt_bytes ?? 0 }
}
