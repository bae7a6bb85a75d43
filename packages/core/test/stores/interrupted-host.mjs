// A host that plays a short conversation and is stopped or killed at one step of it. Run by interruptions.test.ts.
//   node interrupted-host.mjs CORE FOLDER SIGNAL STEP NUMBER
import { appendFileSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const [core, folder, signal, target, number] = process.argv.slice(2)
const { createToolwell } = await import(join(core, 'index.js'))
const { jsonlStore } = await import(join(core, 'ledger/stores/jsonl.js'))

let appends = 0
let isOver = false
const say = (message) => appendFileSync(1, `${JSON.stringify(message)}\n`)

/** The step that was asked for is the last thing that happens until the parent says otherwise. */
function at(step) {
  if (isOver || step !== target || appends !== Number(number)) return
  isOver = true
  say({ at: step })
  process.kill(process.pid, signal)
}

// The moments within an append that only the file system sees.
const probe = join(folder, 'probe.txt')
await writeFile(probe, '')
const handle = await open(probe, 'r')
const prototype = Object.getPrototypeOf(handle)
await handle.close()
const { write, datasync, sync } = prototype
prototype.write = async function (bytes, from, length) {
  if (isOver || target !== 'half-written' || appends !== Number(number))
    return write.call(this, bytes, from, length, null)
  const half = await write.call(this, bytes, from, Math.ceil(length / 2), null)
  at('half-written')
  return half
}
for (const [name, real] of Object.entries({ datasync, sync }))
  prototype[name] = async function () {
    at('written')
    return real.call(this)
  }

const inner = jsonlStore(folder)
const store = {
  ...inner,
  async append(ledger, expected, events) {
    appends++
    at('before')
    await inner.append(ledger, expected, events)
    say({ acknowledged: events.map(({ id, kind, anchor }) => `${id} ${kind} ${anchor}`) })
    at('after')
  },
}
const pay = {
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  execute() {
    appendFileSync(join(folder, 'ran.txt'), 'pay\n')
    at('running')
    return 'paid'
  },
}
const conversation = await createToolwell({ tools: [pay], store }).open({ id: 'thread' })
const begin = (name) => conversation.begin({ requestId: name, anchor: name, wire: 'openai-chat' })
await begin('m1')
const [answer] = await conversation.run([{ callId: 'c', anchor: 'c', name: 'pay', input: { value: {} } }])
say({ outcome: answer.outcome.kind })
await conversation.compact({ kept: { m1: 'm2' }, anchor: 'm2' })
await begin('m3')
say({ done: true })
