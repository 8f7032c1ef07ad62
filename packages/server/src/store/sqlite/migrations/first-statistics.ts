// Statistics before the first row. Every index starts with the tenant; without statistics SQLite takes ten
// rows for what a tenant has, and any such index for as good as another. So it is told what a large database
// looks like: one tenant that has everything. An `analyze` on the real database replaces it.

/** By table and index: how many rows share a prefix of it, of none of its columns, the first, the first two, and so on. */
type Shapes = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>

const TASKS = 1_000_000
const ACTIVE = 1_000

const SHAPES: Shapes = {
  tasks: {
    sqlite_autoindex_tasks_1: [TASKS, TASKS, 1],
    tasks_idempotency: [TASKS, TASKS, 1],
    tasks_type: [TASKS, TASKS, TASKS / 10, 1],
    tasks_owner: [TASKS, TASKS, TASKS / 10, 1],
    tasks_recipient: [ACTIVE, ACTIVE, 10, 1],
  },
  task_states: {
    task_states: [TASKS, TASKS, 1],
    task_states_status: [TASKS, TASKS, TASKS / 6, 1],
    task_states_dead: [ACTIVE, ACTIVE, 1],
  },
  task_tags: { task_tags: [TASKS, TASKS, 100, 1] },
  ready: {
    ready: [TASKS, TASKS, TASKS, TASKS / 10, TASKS / 20, 1],
    ready_any_type: [TASKS, TASKS, TASKS, TASKS / 2, 1],
  },
  delayed: { delayed: [TASKS, TASKS, 1, 1] },
  parked: { parked: [TASKS, TASKS, 1_000, 1_000, 500, 500, 100, 1] },
  leases: {
    leases: [TASKS, TASKS, 1],
    leases_active: [ACTIVE, ACTIVE, 1],
    leases_check: [ACTIVE, 1],
    leases_worker: [ACTIVE, ACTIVE, 10],
    leases_key: [ACTIVE, ACTIVE, 10],
  },
  receipts: {
    sqlite_autoindex_receipts_1: [4 * TASKS, 4 * TASKS, 1],
    receipts_id: [4 * TASKS, 4 * TASKS, 1],
    receipts_key: [4 * TASKS, 4 * TASKS, 1],
    receipts_task: [4 * TASKS, 4 * TASKS, 4, 1],
    receipts_to: [4 * TASKS, 4 * TASKS, TASKS, 1],
    receipts_from: [4 * TASKS, 4 * TASKS, TASKS, 1],
    receipts_type: [4 * TASKS, 4 * TASKS, TASKS, 1],
  },
  obligations: {
    obligations: [TASKS, TASKS, 1],
    obligations_open: [TASKS, TASKS, TASKS, 1_000, 1],
  },
  dependencies: {
    dependencies: [TASKS, TASKS, 2, 1],
    dependencies_on: [TASKS, TASKS, 2],
    dependencies_due: [10, 10, 2],
  },
}

function rowsOf(shapes: Shapes): string {
  const rows = Object.entries(shapes).flatMap(([table, indexes]) =>
    Object.entries(indexes).map(([index, shape]) => `('${table}', '${index}', '${shape.join(' ')}')`),
  )
  return rows.join(',\n  ')
}

// The first `analyze` makes the table, the second makes this connection read it.
export const FIRST_STATISTICS = `
analyze;
delete from sqlite_stat1;
insert into sqlite_stat1 (tbl, idx, stat) values
  ${rowsOf(SHAPES)};
analyze sqlite_schema;
`

/** For the tables of a later migration. */
export function statistics(shapes: Shapes): string {
  return `
insert into sqlite_stat1 (tbl, idx, stat) values
  ${rowsOf(shapes)};
analyze sqlite_schema;
`
}
