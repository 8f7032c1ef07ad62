// Statements over one pooled connection. They are sent without waiting for the answers to those before
// (pipelining).
import type { Bulk, Columns, Query, Session, Value } from '../sql/session.ts'
import { toFailure } from './failure.ts'
import { inputArrays, inputRows } from './input-rows.ts'
import type { Statement, Wire } from './stage.ts'
import { postgresWords } from './words.ts'

type Texts = Map<Query | Bulk<Columns>, string>

export function createSessions({ preparedStatements }: { preparedStatements: boolean }) {
  const texts: Texts = new Map()

  function statement(of: Query | Bulk<Columns>, values: Statement['values']): Statement {
    let text = texts.get(of)
    if (text === undefined) {
      text = 'columns' in of ? of.text(inputRows(of.columns), postgresWords) : of.text(postgresWords)
      texts.set(of, text)
    }
    const named = preparedStatements && !('planEachTime' in of)
    return named ? { name: of.name, text, values } : { text, values }
  }

  /** `onUnsent` is called, before anything else can be sent, if a statement cannot be written down. */
  return (target: Wire, onUnsent: () => void = () => {}): Session => {
    async function send<R>(write: () => Statement): Promise<R[]> {
      let config: Statement
      try {
        config = write()
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
          : send<R>(() => statement(bulk, [tenantId, ...inputArrays(bulk.columns, input)])),
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
