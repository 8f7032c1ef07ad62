// The task types of the reference worker. By themselves, so that the command line can name them without loading it.

export const REFERENCE_TYPES = ['echo', 'sleep_then_return', 'http_get', 'command'] as const
export type ReferenceType = (typeof REFERENCE_TYPES)[number]

/** Those that need nobody's leave: `command` is told which programs it may run, and where. */
export const HARMLESS_TYPES: readonly ReferenceType[] = REFERENCE_TYPES.filter((type) => type !== 'command')
