// How each operation is tried on something that belongs to a given principal: what has to be there first, the input, and
// how a refusal of what is another's looks.
import type { Client, OperationKey } from '@asyncgate/sdk'

export interface Owner {
  readonly kind: 'agent' | 'worker' | 'service'
  readonly id: string
}

export interface Probe {
  /** Prepares something of the owner's; `caller` is who will ask for it. */
  readonly input: (admin: Client, owner: Owner, caller: Owner) => Promise<Record<string, unknown>>
  /** What a caller hears about something that is not its own; `unseen`: success, and it is not in the reply. */
  readonly refusal: 'forbidden' | 'not_found' | 'lease_invalid_or_expired' | 'unseen'
  /** Whether the reply shows what was prepared. */
  readonly shows?: (reply: Record<string, unknown>, input: Record<string, unknown>) => boolean
}

/** Types of their own, so that no claim takes another probe's task. */
let types = 0
const SOMEBODY: Owner = { kind: 'worker', id: 'somebody' }

const naming = ({ kind, id }: Owner) => ({ principal_kind: kind, principal_id: id })
/** A worker is named by `worker_id`; agents have none. */
const asWorker = ({ kind, id }: Owner) =>
  kind === 'service' ? { worker_id: id, worker_kind: kind } : { worker_id: id }

async function makeTask(admin: Client, owner: Owner, more: object = {}) {
  const type = `probe-${(types += 1)}`
  const { task_id, receipt_id } = await admin.createTask({ type, ...naming(owner), ...more })
  return { type, task_id, receipt_id }
}

async function holdTask(admin: Client, worker: Owner, owner: Owner = { kind: 'agent', id: 'somebody' }) {
  const { type, task_id } = await makeTask(admin, owner, { max_attempts: 1 })
  const { tasks } = await admin.leaseNext({ ...asWorker(worker), accept_types: [type] })
  return { task_id, lease_id: tasks[0]!.lease_id }
}

/** Owned by it, or held by it where it is a worker. */
async function taskOf(admin: Client, owner: Owner): Promise<string> {
  return owner.kind === 'worker'
    ? (await holdTask(admin, owner)).task_id
    : (await makeTask(admin, owner)).task_id
}

async function failedTask(admin: Client, owner: Owner): Promise<string> {
  const held = await holdTask(admin, SOMEBODY, owner)
  await admin.fail({ ...asWorker(SOMEBODY), ...held, error: { code: 'x', message: 'x' } })
  return held.task_id
}

/** Of its own, or completed by it where it is a worker; nothing says where the result is. */
async function unlocatedTask(admin: Client, owner: Owner): Promise<string> {
  const isWorker = owner.kind === 'worker'
  const worker = isWorker ? owner : SOMEBODY
  const held = await (isWorker ? holdTask(admin, owner) : holdTask(admin, SOMEBODY, owner))
  await admin.complete({ ...asWorker(worker), ...held, result: 1 })
  return held.task_id
}

/** Succeeded, with its result. */
async function storedTask(admin: Client, owner: Owner): Promise<string> {
  const held = await holdTask(admin, SOMEBODY, owner)
  await admin.complete({ ...asWorker(SOMEBODY), ...held, result: 1, store_result: true })
  return held.task_id
}

async function receiptOf(admin: Client, owner: Owner): Promise<string> {
  const submitted = await admin.submitReceipt({
    receipt_type: 'x.note',
    ...naming(SOMEBODY),
    to: { kind: owner.kind, id: owner.id },
    body: { n: (types += 1) },
  })
  return submitted.receipt_id
}

/** For others than itself a caller must say whom it means. */
const whom = (owner: Owner, caller: Owner) => (owner.id === caller.id ? {} : naming(owner))

const taskProbe = (prepare = taskOf): Probe => ({
  input: async (admin, owner) => ({ task_id: await prepare(admin, owner) }),
  refusal: 'not_found',
})

const receiptProbe = (field: string): Probe => ({
  input: async (admin, owner) => ({ [field]: await receiptOf(admin, owner) }),
  refusal: 'not_found',
})

/** A worker with the lease of another; an administrator may be any worker. */
const leaseProbe = (more: object = {}): Probe => ({
  input: async (admin, owner, caller) => ({
    ...asWorker(caller.id === 'default' ? owner : caller),
    ...(await holdTask(admin, owner)),
    ...more,
  }),
  refusal: 'lease_invalid_or_expired',
})

const keyProbe: Probe = {
  input: async (admin, { kind, id }) => {
    const principal = { principal_kind: kind, principal_id: id }
    return { key_id: (await admin.createKey({ role: 'agent', principal })).key_id }
  },
  refusal: 'not_found',
}

const typeProbe: Probe = {
  input: async (admin) => {
    const { task_type } = await admin.putTaskType({ task_type: `probe-${(types += 1)}` })
    return { task_type }
  },
  refusal: 'not_found',
}
const PASSWORD = 'a long enough password'

const accountProbe = (more: object = {}): Probe => ({
  input: async (admin, owner) => {
    const username = `probe-${(types += 1)}`
    const whom = { role: 'agent', principal: naming(owner), subject: username } as const
    const made = await admin.createAccount({ username, ...whom })
    return { account_id: made.account_id, ...more }
  },
  refusal: 'not_found',
})

export const PROBES: Readonly<Record<OperationKey, Probe>> = {
  createTask: {
    input: async (_admin, owner, caller) => ({ type: 'made', ...whom(owner, caller) }),
    refusal: 'forbidden',
  },
  createTasks: {
    input: async (_admin, owner, caller) => ({ tasks: [{ type: 'made' }], ...whom(owner, caller) }),
    refusal: 'forbidden',
  },
  getTask: taskProbe(),
  listTasks: {
    input: async (admin, owner) => ({ type: (await makeTask(admin, owner)).type }),
    refusal: 'unseen',
    shows: ({ tasks }) => (tasks as unknown[]).length > 0,
  },
  cancelTask: taskProbe(),
  retryTask: taskProbe(failedTask),
  explainTask: taskProbe(),
  getProgress: taskProbe(),
  attachArtifacts: {
    input: async (admin, owner) => ({
      task_id: await unlocatedTask(admin, owner),
      artifacts: [{ url: 'https://example.org/a' }],
    }),
    refusal: 'not_found',
  },
  leaseNext: {
    input: async (_admin, owner) => ({ ...asWorker(owner), accept_types: ['none'] }),
    refusal: 'forbidden',
  },
  renewLease: leaseProbe(),
  releaseLease: leaseProbe(),
  start: leaseProbe(),
  reportProgress: leaseProbe({ progress: { percent: 1 } }),
  complete: leaseProbe({ result: 1 }),
  fail: leaseProbe({ error: { code: 'x', message: 'x' } }),
  settle: {
    input: async (_admin, owner) => ({ ...asWorker(owner), claim: { accept_types: ['none'] } }),
    refusal: 'forbidden',
  },
  putTaskResult: leaseProbe({ content: 'x' }),
  fetchTaskResult: taskProbe(storedTask),
  archiveTaskResult: {
    input: async (admin, owner) => ({ task_id: await storedTask(admin, owner), channel: 'blob' }),
    refusal: 'not_found',
  },
  openObligations: {
    input: async (_admin, owner, caller) => whom(owner, caller),
    refusal: 'forbidden',
  },
  checkTerminator: receiptProbe('parent_receipt_id'),
  listReceipts: {
    input: async (admin, { kind, id }) => {
      await receiptOf(admin, { kind, id })
      return { to_kind: kind, to_id: id, receipt_type: 'x.note' }
    },
    refusal: 'unseen',
    shows: ({ receipts }) => (receipts as unknown[]).length > 0,
  },
  getReceipt: receiptProbe('receipt_id'),
  ackReceipt: receiptProbe('receipt_id'),
  submitReceipt: {
    input: async (_admin, owner, caller) => ({
      receipt_type: 'x.note',
      to: { kind: 'agent', id: 'somebody' },
      body: { n: (types += 1) },
      ...whom(owner, caller),
    }),
    refusal: 'forbidden',
  },
  bootstrap: {
    input: async (_admin, owner, caller) => whom(owner, caller),
    refusal: 'forbidden',
  },
  getConfig: { input: async () => ({}), refusal: 'forbidden' },
  createKey: {
    input: async (_admin, owner) => ({ role: 'agent', principal: naming(owner) }),
    refusal: 'forbidden',
  },
  listKeys: { input: async () => ({}), refusal: 'forbidden' },
  rotateKey: keyProbe,
  revokeKey: keyProbe,
  createWorkerKey: { input: async () => ({ worker_id: 'w' }), refusal: 'forbidden' },
  putTaskType: { input: async () => ({ task_type: 'probed' }), refusal: 'forbidden' },
  listTaskTypes: { input: async () => ({}), refusal: 'forbidden' },
  getTaskType: typeProbe,
  deleteTaskType: typeProbe,
  setRegisteredOnly: { input: async () => ({ registered_only: false }), refusal: 'forbidden' },
  createAccount: {
    input: async (_admin, owner) => ({
      username: `made-${(types += 1)}`,
      role: 'agent',
      principal: naming(owner),
      password: PASSWORD,
    }),
    refusal: 'forbidden',
  },
  listAccounts: { input: async () => ({}), refusal: 'forbidden' },
  setAccountPassword: accountProbe({ password: PASSWORD }),
  disableAccount: accountProbe(),
  enableAccount: accountProbe(),
  registerClient: {
    input: async () => ({ name: 'Editor', redirect_uris: ['https://editor.example.org/back'] }),
    refusal: 'forbidden',
  },
  listClients: { input: async () => ({}), refusal: 'forbidden' },
  revokeClient: {
    input: async (admin) => {
      const redirect_uris = ['https://editor.example.org/back']
      return { client_id: (await admin.registerClient({ name: 'Editor', redirect_uris })).client_id }
    },
    refusal: 'not_found',
  },
  listAudit: { input: async () => ({}), refusal: 'forbidden' },
  createTenant: { input: async () => ({ tenant_id: 'acme' }), refusal: 'forbidden' },
  listTenants: { input: async () => ({}), refusal: 'forbidden' },
  limitTenant: { input: async () => ({ tenant_id: 'acme', tier: 'paid' }), refusal: 'forbidden' },
  suspendTenant: { input: async () => ({ tenant_id: 'acme' }), refusal: 'forbidden' },
  resumeTenant: { input: async () => ({ tenant_id: 'acme' }), refusal: 'forbidden' },
  createTenantKey: {
    input: async (_admin, owner) => ({ tenant_id: 'acme', principal: naming(owner) }),
    refusal: 'forbidden',
  },
}
