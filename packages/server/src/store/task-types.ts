// The part of the store's port that keeps the registry of task types.

/** `null`: the registration says nothing about it. */
export interface TaskType {
  readonly tenantId: string
  readonly type: string
  readonly description: string | null
  /** JSON Schema as text. */
  readonly paramsSchema: string | null
  readonly defaultPriority: number | null
  readonly defaultMaxAttempts: number | null
  readonly defaultTimeoutSeconds: number | null
  readonly defaultRetentionDays: number | null
  readonly defaultResultChannel: string | null
  readonly estimatedRuntimeSeconds: number | null
  readonly pollSuggestionSeconds: number | null
  readonly maxPayloadBytes: number | null
  readonly maxConcurrent: number | null
  readonly enabled: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

export interface TaskTypeStore {
  readType(tenantId: string, type: string): Promise<TaskType | null>
  /** In the order of their names; `after` is the last of the page before. */
  listTypes(query: {
    readonly tenantId: string
    readonly after: string | null
    readonly limit: number
  }): Promise<readonly TaskType[]>
  /** Replaces all but the time of the first registration; the type as it is afterwards. */
  putType(type: TaskType): Promise<TaskType>
  /** The type as it was; null when there is none. */
  deleteType(tenantId: string, type: string): Promise<TaskType | null>
  readRegisteredOnly(tenantId: string): Promise<boolean>
  setRegisteredOnly(tenantId: string, registeredOnly: boolean): Promise<void>
}
