// All migrations of the SQLite store, in the order in which they are run. A landed one never changes.
import type { Migration } from '../../sql/migrate.ts'
import { core } from './0001-core.ts'
import { keys } from './0002-keys.ts'
import { tenants } from './0003-tenants.ts'
import { audit } from './0004-audit.ts'
import { results } from './0005-results.ts'
import { taskTypes } from './0006-task-types.ts'
import { oauth } from './0007-oauth.ts'
import { limits } from './0008-limits.ts'
import { shelves } from './0010-shelves.ts'
import { ledgerSegments } from './0011-ledger-segments.ts'
import { openObligations } from './0012-open-obligations.ts'
import { turns } from './0013-turns.ts'
import { ledgerHeads } from './0014-ledger-heads.ts'

export const MIGRATIONS: readonly Migration[] = [
  core,
  keys,
  tenants,
  audit,
  results,
  taskTypes,
  oauth,
  limits,
  shelves,
  ledgerSegments,
  openObligations,
  turns,
  ledgerHeads,
]
