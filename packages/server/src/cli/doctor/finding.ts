// What a check of `asyncgate doctor` finds: well, doubtful, wrong, or not to be told.

export type Finding =
  | { readonly status: 'ok' | 'skipped'; readonly message: string }
  | { readonly status: 'warn' | 'fail'; readonly message: string; readonly fix: string }

export const ok = (message: string): Finding => ({ status: 'ok', message })
export const skipped = (message: string): Finding => ({ status: 'skipped', message })
export const warn = (message: string, fix: string): Finding => ({ status: 'warn', message, fix })
export const fail = (message: string, fix: string): Finding => ({ status: 'fail', message, fix })

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors.map(reasonOf).join('; ') : ''
  return error.message || inner || error.name
}
