// Why something failed below: the words of a driver or of the system, for whoever runs the command.

/** The cause of the causes: what a driver or the system said. */
export function innermost(cause: unknown): string | undefined {
  let reason: string | undefined
  for (let at = cause; at instanceof Error; at = at instanceof AggregateError ? at.errors[0] : at.cause) {
    const code = 'code' in at && typeof at.code === 'string' ? ` (${at.code})` : ''
    if (at.message !== '') reason = `${at.message}${code}`
  }
  return reason
}
