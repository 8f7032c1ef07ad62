// What a queue must be able to do to take part. One file in contenders/ for each; they run inside players.

/** The task's payload, the same for everybody: its number, and when its creation was called for. */
export interface Work {
  readonly n: number
  readonly at: number
}

/** Where a contender finds its server, database or file. */
export interface Target {
  readonly url: string
  /** What of it is of interest to one contender only, such as a key or a durability. */
  readonly options: Readonly<Record<string, string>>
}

export interface ConsumeOptions {
  /** `throughput` may fetch and complete in large batches; `latency` must start each task as soon as it can. */
  readonly style: 'throughput' | 'latency'
  readonly expected: number
  /** The handler: called once for each task. */
  readonly handled: (work: Work) => void
  /** So many more tasks are durably completed. */
  readonly completed: (count: number) => void
  readonly failed: (error: unknown) => void
}

export interface Consuming {
  stop(): Promise<void>
}

export interface Queue {
  /** Resolves when the task is durable. */
  add(work: Work): Promise<void>
  addMany(works: readonly Work[]): Promise<void>
  consume(options: ConsumeOptions): Promise<Consuming>
  /** By the queue's own count, to check that everything was really done. */
  unfinished(): Promise<number>
  close(): Promise<void>
}

export type OpenQueue = (target: Target) => Promise<Queue>
