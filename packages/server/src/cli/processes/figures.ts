// The figures of all servers as one answer: whoever is asked for metrics asks the leader, and the leader asks everybody.
import type { MetricsReading } from '../../metrics.ts'
import { joinFigures } from '../gate-access.ts'
import type { Member } from './leader.ts'
import type { ToLeader } from './messages.ts'

interface Question {
  readonly asker: Member
  /** As the asker counts its questions. */
  readonly number: number
  readonly open: Set<Member>
  readonly readings: MetricsReading[]
}

export function createFigures(listening: () => readonly Member[]) {
  const questions = new Map<number, Question>()
  let asked = 0

  function ask(asker: Member, number: number): void {
    const id = (asked += 1)
    const open = new Set(listening())
    questions.set(id, { asker, number, open, readings: [] })
    for (const member of open) member.tell({ kind: 'figures-wanted', question: id })
  }

  async function closeIfAnswered(id: number, { asker, number, open, readings }: Question): Promise<void> {
    if (open.size > 0) return
    questions.delete(id)
    const text = await joinFigures(readings)
    if (asker.worker.isConnected()) asker.tell({ kind: 'all-figures', question: number, text })
  }

  return {
    onMessage(member: Member, message: Exclude<ToLeader, { kind: 'listening' }>): void {
      if (message.kind === 'figures-wanted') return ask(member, message.question)
      const question = questions.get(message.question)
      if (!question?.open.delete(member)) return
      question.readings.push(message.reading)
      void closeIfAnswered(message.question, question)
    },
    /** Nobody waits for the answer of a process that has died. */
    onGone(member: Member): void {
      for (const [id, question] of questions)
        if (question.open.delete(member)) void closeIfAnswered(id, question)
    },
  }
}
