// AsyncGate's own count of what is left to do.

export interface Health {
  readonly tasks: Readonly<Record<string, number>>
  readonly open_obligations: number
}

/** Done means proved: as many obligations are open as there are tasks that have not ended. */
export function unfinishedIn({ tasks, open_obligations: open }: Health): number {
  const running = (tasks['queued'] ?? 0) + (tasks['leased'] ?? 0) + (tasks['running'] ?? 0)
  if (open !== running) throw new Error(`${running} tasks are under way, but ${open} obligations are open`)
  return running
}
