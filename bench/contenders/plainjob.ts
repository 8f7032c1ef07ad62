// plainjob, an SQLite queue for one machine, in the process that uses it. Its calls block, so callers at once mean
// nothing to it: they take turns.
import { setImmediate as breathe } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { better, defineQueue, defineWorker, JobStatus } from 'plainjob'
import type { OpenQueue, Queue, Work } from '../players/queue.ts'

const TYPE = 'bench'
/** As often as it can be asked to look; its own default is a second. */
const POLL_MS = 1

const silent = { error() {}, warn() {}, info() {}, debug() {} }

export const openPlainjob: OpenQueue = async ({ url, options }) => {
  const connection = better(new Sqlite(url))
  const jobs = defineQueue({ connection, logger: silent })
  // It sets NORMAL itself; FULL is what an acknowledgement that survives a power cut needs.
  connection.pragma(`synchronous = ${options['synchronous'] ?? 'NORMAL'}`)
  const queue: Queue = {
    async add(work) {
      jobs.add(TYPE, work)
      await breathe()
    },
    async addMany(works) {
      jobs.addMany(TYPE, [...works])
      await breathe()
    },
    consume: async ({ handled, completed, failed }) => {
      const worker = defineWorker(TYPE, ({ data }) => handled(JSON.parse(data) as Work), {
        queue: jobs,
        logger: silent,
        pollIntervall: POLL_MS,
        onCompleted: () => completed(1),
        onFailed: (_job, error) => failed(new Error(error)),
      })
      worker.start().catch(failed)
      return { stop: () => worker.stop() }
    },
    async unfinished() {
      const count = (status: JobStatus) => jobs.countJobs({ type: TYPE, status })
      return count(JobStatus.Pending) + count(JobStatus.Processing) + count(JobStatus.Failed)
    },
    close: async () => jobs.close(),
  }
  return queue
}
