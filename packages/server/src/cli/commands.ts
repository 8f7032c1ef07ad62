// The table of commands, in the order in which help shows them.
import type { Command } from './command.ts'
import {
  accountsCreate,
  accountsDisable,
  accountsEnable,
  accountsList,
  accountsPassword,
} from './commands/accounts.ts'
import { auditList } from './commands/audit.ts'
import { clientsList, clientsRegister, clientsRevoke } from './commands/clients.ts'
import { config } from './commands/config.ts'
import { doctor } from './commands/doctor.ts'
import { keysCreate, keysList, keysRevoke, keysRotate } from './commands/keys.ts'
import { mcp } from './commands/mcp.ts'
import { migrate } from './commands/migrate.ts'
import { oauthRotateKeys } from './commands/oauth.ts'
import { obligations, receiptsGet, receiptsList } from './commands/receipts.ts'
import { scheduleCreate } from './commands/schedule-create.ts'
import { scheduler } from './commands/scheduler.ts'
import {
  scheduleDelete,
  scheduleList,
  schedulePause,
  scheduleResume,
  scheduleStatus,
} from './commands/schedules.ts'
import { dev, serve } from './commands/serve.ts'
import { taskCreate } from './commands/task-create.ts'
import { taskResult } from './commands/task-result.ts'
import {
  tenantsCreate,
  tenantsKey,
  tenantsLimit,
  tenantsList,
  tenantsResume,
  tenantsSuspend,
} from './commands/tenants.ts'
import { worker } from './commands/worker.ts'
import { typesDelete, typesList, typesPut, typesRegisteredOnly, typesShow } from './commands/types.ts'
import { taskCancel, taskExplain, taskGet, taskList, taskRetry, taskWait } from './commands/tasks.ts'

export const commands: readonly Command[] = [
  dev,
  serve,
  worker,
  scheduler,
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
  scheduleCreate,
  scheduleList,
  scheduleStatus,
  schedulePause,
  scheduleResume,
  scheduleDelete,
  obligations,
  receiptsList,
  receiptsGet,
  config,
  doctor,
  typesPut,
  typesList,
  typesShow,
  typesDelete,
  typesRegisteredOnly,
  keysCreate,
  keysList,
  keysRotate,
  keysRevoke,
  accountsCreate,
  accountsList,
  accountsPassword,
  accountsDisable,
  accountsEnable,
  clientsRegister,
  clientsList,
  clientsRevoke,
  oauthRotateKeys,
  tenantsCreate,
  tenantsList,
  tenantsKey,
  tenantsLimit,
  tenantsSuspend,
  tenantsResume,
  auditList,
]
