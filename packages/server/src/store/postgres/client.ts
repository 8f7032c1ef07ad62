// Statements over one pooled connection. They are sent without waiting for the answers to those before
// (pipelining).
import type { Bulk, Columns, Query, Session, Value } from '../sql/session.ts'
import { makeBinder, makeRowBinder } from './binding.ts'
import { toFailure } from './failure.ts'
import { inputRows } from './input-rows.ts'
import type { Answer, Statement, Wire } from './stage.ts'
import { postgresWords } from './words.ts'

export interface WireSession extends Session {
  /** With what it was answered, beside its rows. */
  ask(query: Query): Promise<Answer>
}

export function createSessions({ preparedStatements }: { preparedStatements: boolean }) {
  const nameOf = (of: Query | Bulk<Columns>) =>
    preparedStatements && !('planEachTime' in of) ? { name: of.name } : {}

  const writerOf = once((query: Query) => {
    const told = { ...nameOf(query), text: query.text(postgresWords) }
    const bind = makeBinder(told.name ?? '')
    return (params: readonly Value[]): Statement => ({ ...told, message: bind(params) })
  })

  const rowWriterOf = once((bulk: Bulk<Columns>) => {
    const told = { ...nameOf(bulk), text: bulk.text(inputRows(bulk.columns), postgresWords) }
    const bind = makeRowBinder(told.name ?? '', Object.entries(bulk.columns))
    return (tenantId: string, rows: readonly object[]): Statement => ({
      ...told,
      message: bind(tenantId, rows),
    })
  })

  /** `onUnsent` is called, before anything else can be sent, if a statement cannot be written down. */
  return (target: Wire, onUnsent: () => void = () => {}): WireSession => {
    function send<R>(write: () => Statement): Promise<R[]> {
      let statement: Statement
      try {
        statement = write()
      } catch (error) {
        onUnsent()
        return Promise.reject(error)
      }
      return rowsOf<R>(target, statement)
    }
    return {
      ask: (query) => target.ask(writerOf(query)([])),
      all: <R>(query: Query, params: readonly Value[]) => send<R>(() => writerOf(query)(params)),
      each: <R>(bulk: Bulk<Columns>, tenantId: string, input: readonly object[]) =>
        input.length === 0 ? NOTHING : send<R>(() => rowWriterOf(bulk)(tenantId, input)),
    }
  }
}

/** What is made of a statement is made when it is first used. */
function once<S extends object, W>(make: (of: S) => W): (of: S) => W {
  const made = new Map<S, W>()
  return (of) => {
    let found = made.get(of)
    if (found === undefined) made.set(of, (found = make(of)))
    return found
  }
}

/** Of most statements a commit has no rows to give. */
const NOTHING: Promise<never[]> = Promise.resolve(Object.freeze([]) as unknown as never[]) // nobody adds to what was found

async function rowsOf<R>(target: Wire, statement: Statement): Promise<R[]> {
  try {
    const { rows } = await target.ask(statement)
    return rows as R[] // the statement's author knows its columns
  } catch (error) {
    throw toFailure(error)
  }
}
