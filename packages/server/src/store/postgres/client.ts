// Statements over one pooled connection. They are sent without waiting for the answers to those before
// (pipelining).
import type { Bulk, Columns, Query, Session, Value } from '../sql/session.ts'
import { makeBinder, makeRowBinder } from './binding.ts'
import { toFailure } from './failure.ts'
import { inputRows } from './input-rows.ts'
import type { Answer, Statement, Wire } from './stage.ts'
import { postgresWords } from './words.ts'

/** What the database is told of a statement once, and how its values are bound each time. */
interface Written<V extends unknown[]> {
  readonly told: Pick<Statement, 'name' | 'text'>
  readonly bind: (...values: V) => Buffer
}

export interface WireSession extends Session {
  /** With what it was answered, beside its rows. */
  ask(query: Query): Promise<Answer>
}

export function createSessions({ preparedStatements }: { preparedStatements: boolean }) {
  const queries = new Map<Query, Written<[readonly Value[]]>>()
  const bulks = new Map<Bulk<Columns>, Written<[string, readonly object[]]>>()

  function tell(of: Query | Bulk<Columns>, text: string): Pick<Statement, 'name' | 'text'> {
    return preparedStatements && !('planEachTime' in of) ? { name: of.name, text } : { text }
  }

  function writeQuery(query: Query) {
    let found = queries.get(query)
    if (found === undefined) {
      const told = tell(query, query.text(postgresWords))
      queries.set(query, (found = { told, bind: makeBinder(told.name ?? '') }))
    }
    return found
  }

  function writeBulk(bulk: Bulk<Columns>) {
    let found = bulks.get(bulk)
    if (found === undefined) {
      const told = tell(bulk, bulk.text(inputRows(bulk.columns), postgresWords))
      const bind = makeRowBinder(told.name ?? '', Object.entries(bulk.columns))
      bulks.set(bulk, (found = { told, bind }))
    }
    return found
  }

  /** `onUnsent` is called, before anything else can be sent, if a statement cannot be written down. */
  return (target: Wire, onUnsent: () => void = () => {}): WireSession => {
    function send<R, V extends unknown[]>({ told, bind }: Written<V>, ...values: V): Promise<R[]> {
      let message: Buffer
      try {
        message = bind(...values)
      } catch (error) {
        onUnsent()
        return Promise.reject(error)
      }
      return rows<R>(target, { ...told, message })
    }
    return {
      ask: (query) => {
        const { told, bind } = writeQuery(query)
        return target.ask({ ...told, message: bind([]) })
      },
      all: <R>(query: Query, params: readonly Value[]) =>
        send<R, [readonly Value[]]>(writeQuery(query), params),
      each: <R>(bulk: Bulk<Columns>, tenantId: string, input: readonly object[]) =>
        input.length === 0 ? NOTHING : send<R, [string, readonly object[]]>(writeBulk(bulk), tenantId, input),
    }
  }
}

/** Of most statements a commit has no rows to give. */
const NOTHING: Promise<never[]> = Promise.resolve(Object.freeze([]) as unknown as never[]) // nobody adds to what was found

async function rows<R>(target: Wire, config: Statement): Promise<R[]> {
  try {
    const { rows: found } = await target.ask(config)
    return found as R[] // the statement's author knows its columns
  } catch (error) {
    throw toFailure(error)
  }
}
