// The table of commands, in the order in which help shows them.
import type { Command } from './command.ts'
import { config } from './commands/config.ts'
import { doctor } from './commands/doctor.ts'
import { keysCreate, keysList, keysRevoke, keysRotate } from './commands/keys.ts'
import { mcp } from './commands/mcp.ts'
import { migrate } from './commands/migrate.ts'
import { obligations, receiptsGet, receiptsList } from './commands/receipts.ts'
import { dev, serve } from './commands/serve.ts'
import { taskCreate } from './commands/task-create.ts'
import { taskResult } from './commands/task-result.ts'
import { tenantsCreate, tenantsKey, tenantsList, tenantsResume, tenantsSuspend } from './commands/tenants.ts'
import { worker } from './commands/worker.ts'
import { taskCancel, taskExplain, taskGet, taskList, taskRetry, taskWait } from './commands/tasks.ts'

export const commands: readonly Command[] = [
  dev,
  serve,
  worker,
  mcp,
  migrate,
  taskCreate,
  taskGet,
  taskList,
  taskWait,
  taskResult,
  taskCancel,
  taskRetry,
  taskExplain,
  obligations,
  receiptsList,
  receiptsGet,
  config,
  doctor,
  keysCreate,
  keysList,
  keysRotate,
  keysRevoke,
  tenantsCreate,
  tenantsList,
  tenantsKey,
  tenantsSuspend,
  tenantsResume,
]
