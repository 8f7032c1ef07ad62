// What a broken promise looks like: the seed that repeats it, the step, and what happened just before.

export class Violation extends Error {
  override name = 'Violation'
}

export interface Diary {
  /** Notes what happens now; the last notes are printed with a violation. */
  note(line: string): void
  /** A short name for an id, the same throughout the run. */
  alias(id: string, letter: string): string
  count(what: string): void
  readonly counts: ReadonlyMap<string, number>
  step(number: number): void
  violation(problems: readonly string[], cause?: unknown): Violation
}

const LINES_KEPT = 30
const PROBLEMS_SHOWN = 5

export function createDiary({ seed, steps }: { seed: number; steps: number }): Diary {
  const lines: string[] = []
  const names = new Map<string, string>()
  const letters = new Map<string, number>()
  const counts = new Map<string, number>()
  let current = 0
  return {
    note: (line) => {
      lines.push(`${current}: ${line}`)
      if (lines.length > LINES_KEPT) lines.shift()
    },
    alias: (id, letter) => {
      const known = names.get(id)
      if (known !== undefined) return known
      const number = (letters.get(letter) ?? 0) + 1
      letters.set(letter, number)
      names.set(id, `${letter}${number}`)
      return `${letter}${number}`
    },
    count: (what) => counts.set(what, (counts.get(what) ?? 0) + 1),
    counts,
    step: (number) => {
      current = number
    },
    violation: (problems, cause) => {
      const named = [...names].reduce((text, [id, name]) => text.replaceAll(id, name), problemText(problems))
      const again = `npm run simulate -- --from ${seed} --seeds 1 --steps ${steps}`
      return new Violation(
        `seed ${seed}, step ${current}:\n${named}\nlast actions:\n${lines.map((line) => `  ${line}`).join('\n')}\n` +
          `again: ${again}`,
        cause === undefined ? {} : { cause },
      )
    },
  }
}

function problemText(problems: readonly string[]): string {
  const shown = problems.slice(0, PROBLEMS_SHOWN).map((problem) => `  ✗ ${problem}`)
  const hidden = problems.length - shown.length
  return [...shown, ...(hidden > 0 ? [`  … and ${hidden} more`] : [])].join('\n')
}
