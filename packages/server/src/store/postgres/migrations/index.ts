// All migrations of the PostgreSQL store, in the order in which they are run. A landed one never changes.
import type { Migration } from '../../sql/migrate.ts'
import { core } from './0001-core.ts'
import { keys } from './0002-keys.ts'
import { tenants } from './0003-tenants.ts'
import { audit } from './0004-audit.ts'
import { results } from './0005-results.ts'
import { taskTypes } from './0006-task-types.ts'
import { oauth } from './0007-oauth.ts'
import { limits } from './0008-limits.ts'
import { tenantWall } from './0009-tenant-wall.ts'
import { shelves } from './0010-shelves.ts'
import { ledgerSegments } from './0011-ledger-segments.ts'
import { openObligations } from './0012-open-obligations.ts'
import { turns } from './0013-turns.ts'
import { ledgerHeads } from './0014-ledger-heads.ts'
import { unmistakableIndexes } from './0015-unmistakable-indexes.ts'
import type { TenantMigration } from './tenant-wall.ts'

export const MIGRATIONS: readonly (Migration | TenantMigration)[] = [
  core,
  keys,
  tenants,
  audit,
  results,
  taskTypes,
  oauth,
  limits,
  tenantWall,
  shelves,
  ledgerSegments,
  openObligations,
  turns,
  ledgerHeads,
  unmistakableIndexes,
]

/** Views that show rows of tenants, to whom the policies of the tables show them. */
export const TENANT_VIEWS: readonly string[] = ['receipts']

const walls = MIGRATIONS.filter((migration): migration is TenantMigration => 'tables' in migration)
const dropped = new Set(walls.flatMap(({ drops = [] }) => drops))

export const TENANT_TABLES: readonly string[] = walls
  .flatMap(({ tables }) => tables)
  .filter((table) => !dropped.has(table))

/** Of no tenant, and so without a wall: whose a code or a session is, is known by it alone. */
export const SHARED_TABLES: readonly string[] = ['oauth_artifacts', 'oauth_signing_keys']
