// How PostgreSQL would run a statement of the store: with the settings of the service's own connections,
// prepared, under the role that serves and its policies, and with the plan that it keeps for all values, or that it makes for
// these where the store has it planned each time. Counts the rows that it really read.
import { Client } from 'pg'
import type { Bulk, Columns, ColumnType, Query, Session, Value } from '../../src/store/sql/session.ts'
import { connectionConfig } from '../../src/store/postgres/pool.ts'
import { textArray } from '../../src/store/postgres/binary-array.ts'
import { inputRows } from '../../src/store/postgres/input-rows.ts'
import { postgresWords } from '../../src/store/postgres/words.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

export interface Explained {
  readonly name: string
  /** Rows of tables that were looked at, kept or not. */
  readonly rowsRead: number
  readonly nodeTypes: readonly string[]
}

export interface Explainer extends Session {
  readonly explained: Explained[]
  close(): Promise<void>
}

/** A session that explains each statement as it runs it, and answers nothing. */
export async function openExplainer(url: string, tenantId: string): Promise<Explainer> {
  const client = new Client(connectionConfig({ url, poolSize: 1, preparedStatements: true }))
  await client.connect()
  await client.query('set plan_cache_mode = force_generic_plan')
  const prepared = new Set<string>()
  const explained: Explained[] = []
  let last: Promise<void> = Promise.resolve()

  async function explain(of: Query | Bulk<Columns>, values: readonly Value[]): Promise<void> {
    const text = 'columns' in of ? of.text(inputRows(of.columns), postgresWords) : of.text(postgresWords)
    const name = `"${of.name}"`
    if (!prepared.has(name)) await client.query(`prepare ${name} as ${text}`)
    prepared.add(name)
    const literals = values.map((value) => (value === null ? 'null' : client.escapeLiteral(String(value))))
    const call = literals.length === 0 ? name : `${name} (${literals.join(', ')})`
    await client.query('begin')
    await client.query("select set_config('asyncgate.tenant', $1, true)", [tenantId])
    if ('planEachTime' in of) await client.query('set local plan_cache_mode = force_custom_plan')
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) execute ${call}`,
    )
    await client.query('rollback')
    const [{ Plan: plan }] = rows[0]!['QUERY PLAN']
    const nodes = flatten(plan)
    explained.push({
      name: of.name,
      rowsRead: nodes
        .filter((node) => node['Relation Name'] !== undefined)
        .reduce((sum, node) => sum + rowsOf(node), 0),
      nodeTypes: nodes.map((node) => node['Node Type']),
    })
  }

  /** One after the other, since each is a transaction of its own. */
  const inTurn = (of: Query | Bulk<Columns>, values: readonly Value[]) =>
    (last = last.then(() => explain(of, values)))

  return {
    explained,
    all: async (query, params) => {
      await inTurn(query, params)
      return []
    },
    each: async (bulk, tenantId, rows) => {
      await inTurn(bulk, [tenantId, ...literalArrays(bulk.columns, rows)])
      return []
    },
    close: () => client.end(),
  }
}

/** The arrays of a set of rows as literals, since `execute` takes no parameters. */
function literalArrays(columns: Columns, rows: readonly object[]): string[] {
  return Object.entries(columns).map(([name, type]) => {
    const values = rows.map((row) => (row as Readonly<Record<string, unknown>>)[name] ?? null)
    return `{${values.map((value) => (value === null ? 'null' : literal(type, value))).join(',')}}`
  })
}

function literal(type: ColumnType, value: unknown): string {
  const texts = type === 'texts' ? textArray(value as readonly string[]) : String(value)
  const text = { json: JSON.stringify(value), hex: `\\x${texts}` }[type as string] ?? texts
  return textArray([text]).slice(1, -1)
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)]
}

function rowsOf(node: PlanNode): number {
  const isTarget = node['Node Type'] === 'ModifyTable'
  const perLoop = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
  return isTarget ? 0 : perLoop * (node['Actual Loops'] ?? 1)
}
