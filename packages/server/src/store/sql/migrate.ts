// Migrations: numbered texts, forward only, each recorded with a checksum of what was run.
import { createHash } from 'node:crypto'

export interface Migration {
  readonly name: string
  readonly sql: string
}

export interface Applied {
  readonly name: string
  readonly checksum: string
}

export function checksum({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex')
}

/** Those still to be run, in order. A newer server's migrations in the database are none of our business. */
export function pending(all: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const done = new Map(applied.map((row) => [row.name, row.checksum]))
  const changed = all.find(
    (migration) => done.has(migration.name) && done.get(migration.name) !== checksum(migration),
  )
  if (changed !== undefined) {
    throw new Error(
      `Migration ${changed.name} is not the one that this database was made with. Restore it; changes go into a new one.`,
    )
  }
  return all.filter((migration) => !done.has(migration.name))
}
