// One of several hosts on one conversation: requests, usage records, its own calls, and the calls all hosts make.
//   node racing-host.mjs CORE FOLDER NAME ROUNDS
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

const [core, folder, name, rounds] = process.argv.slice(2)
const { createToolwell } = await import(join(core, 'index.js'))
const { jsonlStore } = await import(join(core, 'ledger/stores/jsonl.js'))

const ran = (anchor) => appendFileSync(join(folder, 'ran.txt'), `${anchor}\n`)
const pay = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } }
const conversation = await createToolwell({ tools: [pay], store: jsonlStore(folder) }).open({ id: 'thread' })
const seen = { thrown: [], requests: [], outcomes: {} }
const run = async (anchor) => {
  const call = { callId: anchor, anchor, name: 'pay', input: { value: {} } }
  const [answer] = await conversation.run([call], { execute: () => ran(anchor) })
  seen.outcomes[anchor] = answer.outcome.kind
}
for (let round = 0; round < Number(rounds); round++)
  try {
    const requestId = `${name} ${round}`
    await conversation.begin({ requestId, anchor: `m ${requestId}`, wire: 'openai-chat' })
    seen.requests.push(requestId)
    await Promise.all([
      run(`shared ${round}`),
      run(`own ${requestId}`),
      conversation.recordRequest({ requestId, messageTokens: round }),
    ])
  } catch (error) {
    seen.thrown.push(String(error))
  }
console.log(JSON.stringify(seen))
