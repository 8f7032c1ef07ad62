// How PostgreSQL would run a statement of the store: with the settings of the service's own connections,
// prepared, under the role that serves and its policies, and with the plan that it keeps for all values, or that it makes for
// these where the store has it planned each time. Counts the rows that it really read.
import { Client } from 'pg'
import type { Bulk, Columns, ColumnType, Query, Session, Value } from '../../src/store/sql/session.ts'
import { connectionConfig } from '../../src/store/postgres/pool.ts'
import { textArray } from '../../src/store/postgres/binary-array.ts'
import { inputRows } from '../../src/store/postgres/input-rows.ts'
import { type ColumnSet, isIn, NONE, sharedBy } from '../../src/store/postgres/shared-columns.ts'
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

  async function explain(
    of: Query | Bulk<Columns>,
    form: Form,
    values: readonly Value[],
  ): Promise<Explained> {
    const name = `"${of.name} ${form.of}"`
    const { text } = form
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
    return {
      name: of.name,
      rowsRead: nodes
        .filter((node) => node['Relation Name'] !== undefined)
        .reduce((sum, node) => sum + rowsOf(node), 0),
      nodeTypes: nodes.map((node) => node['Node Type']),
    }
  }

  /** A set of rows in both forms that it may have: the worse one counts. */
  async function explainRows(bulk: Bulk<Columns>, tenantId: string, rows: readonly object[]): Promise<void> {
    const { columns } = bulk
    const values = valuesOf(columns, rows)
    const forms = await inTurn([...new Set([NONE, sharedBy(values)])], async (shared) => {
      const isShared = (at: number) => isIn(shared, at)
      const form = { of: shared, text: bulk.text(inputRows(columns, isShared), postgresWords) }
      const types = Object.values(columns)
      const literals = values.map((each, at) => (isShared(at) ? single : array)(types[at]!, each))
      return explain(bulk, form, [tenantId, ...literals])
    })
    explained.push({
      name: bulk.name,
      rowsRead: Math.max(...forms.map(({ rowsRead }) => rowsRead)),
      nodeTypes: forms.flatMap(({ nodeTypes }) => nodeTypes),
    })
  }

  async function explainQuery(query: Query, values: readonly Value[]): Promise<void> {
    explained.push(await explain(query, { of: NONE, text: query.text(postgresWords) }, values))
  }

  /** One after the other, since each is a transaction of its own. */
  const queue = (run: () => Promise<void>) => (last = last.then(run))

  return {
    explained,
    all: async (query, params) => {
      await queue(() => explainQuery(query, params))
      return []
    },
    each: async (bulk, tenantId, rows) => {
      await queue(() => explainRows(bulk, tenantId, rows))
      return []
    },
    close: () => client.end(),
  }
}

interface Form {
  readonly of: ColumnSet
  readonly text: string
}

async function inTurn<T, R>(all: readonly T[], run: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const each of all) results.push(await run(each))
  return results
}

function valuesOf(columns: Columns, rows: readonly object[]): unknown[][] {
  const valueOf = (row: object, name: string) => (row as Readonly<Record<string, unknown>>)[name] ?? null
  return Object.keys(columns).map((name) => rows.map((row) => valueOf(row, name)))
}

/** As literals, since `execute` takes no parameters. */
function array(type: ColumnType, values: readonly unknown[]): string {
  return `{${values.map((value) => (value === null ? 'null' : textArray([text(type, value)]).slice(1, -1))).join(',')}}`
}

function single(type: ColumnType, [value]: readonly unknown[]): string | null {
  return value === null ? null : text(type, value)
}

function text(type: ColumnType, value: unknown): string {
  const texts = type === 'texts' ? textArray(value as readonly string[]) : String(value)
  return { json: JSON.stringify(value), hex: `\\x${texts}` }[type as string] ?? texts
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)]
}

function rowsOf(node: PlanNode): number {
  const isTarget = node['Node Type'] === 'ModifyTable'
  const perLoop = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
  return isTarget ? 0 : perLoop * (node['Actual Loops'] ?? 1)
}
