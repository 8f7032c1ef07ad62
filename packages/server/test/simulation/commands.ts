// Commands as the facades would build them, with everything that a test does not care about filled in.
import type {
  ClaimCommand,
  ClaimFilter,
  Command,
  CompleteCommand,
  FailCommand,
  Holding,
  NewTask,
} from '../../src/engine/command.ts'
import type { Principal } from '../../src/engine/model.ts'

export function newTask(createdBy: Principal, wanted: Partial<NewTask> = {}): NewTask {
  return {
    type: 'a',
    payload: {},
    payloadPointer: null,
    summary: null,
    createdBy,
    recipient: createdBy,
    capabilities: [],
    tags: [],
    priority: 0,
    maxAttempts: null,
    retryBackoffSeconds: null,
    maxExpiries: null,
    idempotencyKey: null,
    parentTaskId: null,
    causedByReceiptId: null,
    concurrencyKey: null,
    concurrencyLimit: null,
    timeoutSeconds: null,
    deadlineAt: null,
    delaySeconds: null,
    notBefore: null,
    dependsOn: [],
    onDependencyFailure: 'cancel',
    expectedOutcomeKind: null,
    expectedArtifactMime: null,
    successCriteria: null,
    resultDelivery: null,
    metadata: {},
    ...wanted,
  }
}

export function claimOf(
  worker: Principal,
  wanted: Partial<Omit<ClaimCommand, 'filter'>> & Partial<ClaimFilter> = {},
): ClaimCommand {
  const { capabilities = [], acceptTypes = null, preferredTypes = [], ...rest } = wanted
  const filter = { capabilities, acceptTypes, preferredTypes }
  return { kind: 'claim', worker, filter, maxTasks: 1, ttlSeconds: null, capacity: null, ...rest }
}

export function completeOf(holding: Holding, wanted: Partial<CompleteCommand> = {}): CompleteCommand {
  return {
    kind: 'complete',
    ...holding,
    result: {},
    resultSummary: null,
    artifacts: [],
    deliveryProof: null,
    storeResult: true,
    completionMetadata: null,
    ...wanted,
  }
}

export function failOf(holding: Holding, wanted: Partial<FailCommand> = {}): FailCommand {
  const error = { code: 'broken', message: 'It did not work.' }
  return { kind: 'fail', ...holding, error, retryable: true, retryAfterSeconds: null, ...wanted }
}

/** The task that a command is about, for a diary. */
export function taskOf(command: Command): string | null {
  return 'taskId' in command ? command.taskId : null
}
