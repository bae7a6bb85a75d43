/** A second process on the same session, killed in the middle of a request. It never closes its servers. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadTokenizer } from '@toolwell/core'
import { openSession } from '../agent/session.ts'
import { forced } from './reading.ts'
import { openProof } from './setup.ts'

const [folder = '', url = '', text = '', delivery = ''] = process.argv.slice(2)
const { host, servers } = openProof({
  folder,
  url,
  ...forced(delivery),
  tokenizer: await loadTokenizer(),
  // Records server processes for the proof.
  onServer(event) {
    if (event.kind !== 'server-state' || event.state !== 'ready') return
    const pids = servers.inspect().flatMap((server) => server.pids)
    appendFileSync(join(folder, 'worker-pids'), `${pids.join('\n')}\n`)
  },
})
const session = await openSession(host, 'main')
await session.ask(text)
