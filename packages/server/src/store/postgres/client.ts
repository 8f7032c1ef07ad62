// Statements over one pooled connection. They are sent without waiting for the answers to those before
// (pipelining).
import { makeColumnTaker } from '../sql/row-maker.ts'
import type { Bulk, Columns, Query, Session, Value } from '../sql/session.ts'
import { makeBinder, makeRowBinder } from './binding.ts'
import { toFailure } from './failure.ts'
import { inputRows } from './input-rows.ts'
import { createForms, isIn, NONE, sharedBy } from './shared-columns.ts'
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
    return (params: readonly Value[]): Statement => ({ ...told, write: bind(params) })
  })

  const rowWriterOf = once((bulk: Bulk<Columns>) => {
    const take = makeColumnTaker(Object.keys(bulk.columns))
    const formOf = createForms((shared) => {
      const isShared = (at: number) => isIn(shared, at)
      const { name } = nameOf(bulk)
      const told = {
        ...(name === undefined ? {} : { name: shared === NONE ? name : `${name} ${shared.toString(36)}` }),
        text: bulk.text(inputRows(bulk.columns, isShared), postgresWords),
      }
      const bind = makeRowBinder(told.name ?? '', Object.values(bulk.columns), isShared)
      return { told, bind }
    })
    return (tenantId: string, rows: readonly object[]): Statement => {
      const values = take(rows)
      const { told, bind } = formOf(sharedBy(values))
      return { ...told, write: bind(tenantId, values) }
    }
  })

  return (target: Wire): WireSession => ({
    ask: (query) => target.ask(() => writerOf(query)([])),
    all: <R>(query: Query, params: readonly Value[]) => rowsOf<R>(target, () => writerOf(query)(params)),
    each: <R>(bulk: Bulk<Columns>, tenantId: string, rows: readonly object[]) =>
      rows.length === 0 ? NOTHING : rowsOf<R>(target, () => rowWriterOf(bulk)(tenantId, rows)),
  })
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

async function rowsOf<R>(target: Wire, make: () => Statement): Promise<R[]> {
  const asked = target.ask(make)
  try {
    const { rows } = await asked
    return rows as R[] // the statement's author knows its columns
  } catch (error) {
    throw toFailure(error)
  }
}
