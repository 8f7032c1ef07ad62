// Calls that create tasks spend from a second bucket, one token for each task; what they did not create they get back.
import type { OperationKey } from '@asyncgate/sdk'
import type { Caller } from '../auth/caller.ts'
import type { Admission, Limiter } from '../limits/limiter.ts'

const CREATIONS: ReadonlySet<OperationKey> = new Set(['createTask', 'createTasks', 'retryTask'])

export function isCreation(key: OperationKey): boolean {
  return CREATIONS.has(key)
}

interface Creation {
  readonly input: object
  readonly create: () => Promise<object>
}

export async function createWithin(
  limiter: Limiter,
  { caller, admission }: { caller: Caller; admission: Admission | undefined },
  { input, create }: Creation,
): Promise<object> {
  if (admission === undefined) return create()
  const wanted = itemsOf(input)?.length ?? 1
  const admitting = limiter.admitTasks(caller, wanted, admission)
  if (admitting instanceof Promise) await admitting
  let created = 0
  try {
    const reply = await create()
    created = (itemsOf(reply) ?? [reply]).filter(isNew).length
    return reply
  } finally {
    const refunding = limiter.refundTasks(caller, wanted - created)
    if (refunding instanceof Promise) await refunding
  }
}

/** Of create_tasks; the other operations are about one task. */
function itemsOf(value: object): readonly unknown[] | undefined {
  return 'tasks' in value && Array.isArray(value.tasks) ? value.tasks : undefined
}

function isNew(item: unknown): boolean {
  const { error, is_duplicate: isDuplicate } = item as { error?: unknown; is_duplicate?: unknown } // a reply or a refusal
  return error === undefined && isDuplicate !== true
}
