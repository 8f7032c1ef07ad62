// From what a commit changed to what the metrics count.
import type { Committed } from '../engine/engine.ts'
import { isTerminal } from '../engine/model.ts'
import { tasksAfter } from '../engine/unit.ts'
import type { Metrics } from '../metrics.ts'

export function observe(metrics: Metrics, { commands, changes, durationMs }: Committed, now: number): void {
  const after = tasksAfter(changes)
  const touched = new Map(
    changes.grantedLeases.length === 0 ? [] : after.map((task) => [task.definition.taskId, task]),
  )
  metrics.onCommitted({
    commandCount: commands.length,
    durationMs,
    tasksCreated: changes.createdTasks.map(({ definition }) => ({ type: definition.type })),
    tasksEnded: after.flatMap(({ definition, state }) =>
      isTerminal(state.status)
        ? [{ type: definition.type, outcome: state.status, durationMs: now - definition.createdAt }]
        : [],
    ),
    leasesGranted: changes.grantedLeases.flatMap(({ taskId, grantedAt }) => {
      const task = touched.get(taskId)
      return task === undefined
        ? []
        : [{ type: task.definition.type, waitedMs: grantedAt - task.state.nextEligibleAt }]
    }),
    leasesExpired: changes.changedLeases.filter((lease) => lease.end === 'expired').length,
    receiptTypes: changes.receipts.map((receipt) => receipt.receiptType),
  })
  const workers = new Set(commands.map((command) => ('worker' in command ? command.worker : null)))
  for (const worker of workers) if (worker !== null) metrics.onWorkerSeen({ workerId: worker.id, at: now })
}
