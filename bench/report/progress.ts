// What is going on, on stderr: one line that is rewritten on a terminal, a line for each measurement elsewhere.
import { showNumber } from './numbers.ts'

export interface Progress {
  begin(what: string): void
  /** A detail of what has begun. */
  show(detail: string): void
  done(figures: readonly { name: string; unit: string; value: number | undefined }[]): void
  end(text: string): void
}

export function createProgress(out: NodeJS.WriteStream = process.stderr): Progress {
  let current = 'starting'
  const rewrite = (text: string) => {
    if (out.isTTY) out.write(`\r\x1b[K${text.slice(0, out.columns - 1)}`)
  }
  const settle = (text: string) => out.write(out.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`)
  return {
    begin(what) {
      current = what
      rewrite(`${current} …`)
    },
    show: (detail) => rewrite(`${current} … ${detail}`),
    done(figures) {
      const shown = figures.flatMap(({ name, unit, value }) =>
        value === undefined ? [] : [`${name} ${showNumber(value)} ${unit}`],
      )
      settle(`${current}: ${shown.join(', ')}`)
    },
    end(text) {
      rewrite('')
      if (text !== '') settle(text)
    },
  }
}
