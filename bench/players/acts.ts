// The player's side of the wire to the bench: a player is a process that does what it is asked and answers with
// plain values. Its script calls `serveActs` and is done.
import type { Answer, Question } from '../lab/player.ts'

/** `never` as the input lets every act have its own; the caller's side is typed by the script's own type. */
export type Acts = Readonly<Record<string, (input: never) => Promise<unknown>>>

export function serveActs(acts: Acts): void {
  process.on('message', (question: Question) => {
    void perform(acts, question).then(send)
  })
  // Whoever started this process has gone, in whichever way.
  process.on('disconnect', () => process.exit(1))
  // Ctrl-C reaches the whole group; the bench ends its players itself, in order.
  process.on('SIGINT', () => {})
}

/** Shown on the bench's progress line. */
export function tellProgress(text: string): void {
  send({ progress: text })
}

async function perform(acts: Acts, { id, act, input }: Question): Promise<Answer> {
  try {
    const known = acts[act]
    if (known === undefined) throw new Error(`there is no act ${act}`)
    // The bench's side is typed by this very table of acts.
    return { id, result: await known(input as never) }
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

function send(answer: Answer): void {
  if (process.connected) process.send?.(answer)
}
