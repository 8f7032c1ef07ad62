// Indexes that only those statements can use that were made for them. When statistics are taken while next to nothing is open, every
// index that begins with the tenant seems as good as the key, and the plans that come of it are kept: then each discharge went
// through all that is open, and beside a reader who stays through all that had been, three times the database's time for a task.
//
// In the order in which commits write to the tables: the other way round, this one and a commit that was under way waited for
// each other, and it was this one that failed.
import type { Migration } from '../../sql/migrate.ts'

export const unmistakableIndexes: Migration = {
  name: '0015_unmistakable_indexes',
  sql: `
drop index dependencies_on;
create index dependencies_on on dependencies (tenant_id, depends_on, due)
  where depends_on > '00000000-0000-0000-0000-000000000000';

drop index obligations_open;
create index obligations_open on obligations (tenant_id, to_kind, to_id, position) where to_id > '';
`,
}
