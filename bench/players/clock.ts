// Time that is the same in every process of this machine: the monotonic clock since boot.

/** Milliseconds with fractions; only differences mean anything. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
