// Row-level security on every table of tenants.
//
// A condition that could tell of rows that nobody may see is not looked up in an index before the policy was asked, and
// `lane || ''` is one. So the index that was made for it says in another way that it is not for looks of one type.
import { walled } from './tenant-wall.ts'

export const tenantWall = walled({
  name: '0009_tenant_wall',
  tables: [
    ...['tasks', 'task_states', 'task_tags', 'lanes', 'ready', 'delayed', 'parked', 'leases', 'ledgers'],
    ...['receipts', 'ledger_pages', 'obligations', 'dependencies', 'timers', 'progress', 'principals'],
    ...['api_keys', 'tenants', 'audit_log', 'task_types', 'registered_only', 'rate_buckets'],
    ...['accounts', 'oauth_clients', 'stored_results'],
  ],
  sql: `
drop index ready_any_type;
create index ready_any_type on ready (tenant_id, lane, neg_priority, task_id) where type > '';
`,
})
