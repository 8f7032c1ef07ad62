// Statements over one pooled connection. They are sent without waiting for the answers to those before
// (pipelining).
import type { Bulk, Columns, ColumnType, Query, Session, Value } from '../sql/session.ts'
import { toFailure } from './failure.ts'
import { inputArrays, inputRows } from './input-rows.ts'
import type { Statement, Wire } from './stage.ts'
import { postgresWords } from './words.ts'

interface Written {
  readonly text: string
  /** Of its input rows, if it has any. */
  readonly columns: readonly [string, ColumnType][]
}

export function createSessions({ preparedStatements }: { preparedStatements: boolean }) {
  const written = new Map<Query | Bulk<Columns>, Written>()

  function write(of: Query | Bulk<Columns>): Written {
    let found = written.get(of)
    if (found === undefined) {
      found =
        'columns' in of
          ? { text: of.text(inputRows(of.columns), postgresWords), columns: Object.entries(of.columns) }
          : { text: of.text(postgresWords), columns: [] }
      written.set(of, found)
    }
    return found
  }

  function statement(of: Query | Bulk<Columns>, values: Statement['values']): Statement {
    const { text } = write(of)
    const named = preparedStatements && !('planEachTime' in of)
    return named ? { name: of.name, text, values } : { text, values }
  }

  /** `onUnsent` is called, before anything else can be sent, if a statement cannot be written down. */
  return (target: Wire, onUnsent: () => void = () => {}): Session => {
    async function send<R>(make: () => Statement): Promise<R[]> {
      let config: Statement
      try {
        config = make()
      } catch (error) {
        onUnsent()
        throw error
      }
      return rows<R>(target, config)
    }
    return {
      all: <R>(query: Query, params: readonly Value[]) => send<R>(() => statement(query, params)),
      each: async <R>(bulk: Bulk<Columns>, tenantId: string, input: readonly object[]) =>
        input.length === 0
          ? []
          : send<R>(() => statement(bulk, [tenantId, ...inputArrays(write(bulk).columns, input)])),
    }
  }
}

async function rows<R>(target: Wire, config: Statement): Promise<R[]> {
  try {
    const { rows: found } = await target.ask(config)
    return found as R[] // the statement's author knows its columns
  } catch (error) {
    throw toFailure(error)
  }
}
