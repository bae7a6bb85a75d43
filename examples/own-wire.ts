/** An adapter for a custom wire: a server that exchanges lines. Checks its own result. */
import assert from 'node:assert/strict'
import { createToolwell, defineTool, type SurfaceView } from '@toolwell/core'
import { createAdapter, readArguments, type Unit, type UnitCall, type Wire } from '@toolwell/core/adapter'

/** One turn as this server has it. Arguments are text, and every call has an id. */
interface Line {
  readonly from: 'system' | 'user' | 'model' | 'tool'
  readonly text: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: string }[]
  /** The call that a tool's line answers. */
  readonly answers?: string
}
type Parts = { readonly lines: readonly Line[]; readonly tools: SurfaceView['tools'] }

const NAME = 'lines'
const units = new WeakMap<Line, Unit>()

const wire: Wire<Line, Line, Parts> = {
  name: NAME,
  traits: { systemInMessages: true },
  // Remembers units, so that each line is read once.
  read: (lines) =>
    lines.map((line) => {
      const unit = units.get(line) ?? readLine(line)
      units.set(line, unit)
      return unit
    }),
  // Sends lines of this wire unchanged, unless they were repaired.
  write: (thread, view) => {
    const lines: Line[] = []
    for (const unit of thread) {
      const own = unit.kind !== 'note' && unit.native?.wire === NAME ? (unit.native.value as Line) : undefined
      const last = lines.at(-1)
      // A note joins the line before it: after a tool's line, servers accept only the model.
      if (unit.kind === 'note' && last && last.from !== 'model')
        lines[lines.length - 1] = { ...last, text: `${last.text}\n\n${unit.text}` }
      else lines.push(own && !(unit.kind === 'assistant' && unit.repaired) ? own : writeUnit(unit))
    }
    return view.section === '' ? lines : [{ from: 'system', text: view.section }, ...lines]
  },
  parts: (lines, { tools }) => ({ lines, tools }),
  calls: (reply) => callsOf(reply),
  answer: (answers) => answers.map(({ callId, text }): Line => ({ from: 'tool', text, answers: callId })),
}

function callsOf({ calls = [] }: Line): UnitCall[] {
  return calls.map(({ id, name, input }) => ({ id, name, input: readArguments(input), text: input }))
}

function readLine(line: Line): Unit {
  const { from, text, answers = '' } = line
  const native = { wire: NAME, value: line }
  if (from === 'tool') return { kind: 'answer', callId: answers, text, native }
  if (from === 'model') return { kind: 'assistant', text, calls: callsOf(line), native }
  return { kind: from, text, native }
}

function writeUnit(unit: Unit): Line {
  if (unit.kind === 'answer') return { from: 'tool', text: unit.text, answers: unit.callId }
  if (unit.kind === 'note') return { from: 'user', text: unit.text }
  if (unit.kind !== 'assistant') return { from: unit.kind, text: unit.text }
  const calls = unit.calls.map(({ id, name, text = '{}' }) => ({ id, name, input: text }))
  return { from: 'model', text: unit.text, calls }
}

const inputSchema = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] }
const tools = ['send', 'void', 'print'].map((action) => {
  const execute = ({ number }: Record<string, unknown>) => `invoice ${number}: ${action} done`
  return defineTool({ name: `${action}_invoice`, description: `To ${action} one`, inputSchema, execute })
})
const well = createToolwell({ mode: 'on' })
well.catalogue.setSource('billing', { description: 'Invoices', tools })
const adapter = createAdapter(await well.open({ id: 'thread-1' }), wire)

const script: Line[] = [
  {
    from: 'model',
    text: '',
    calls: [{ id: 'a', name: 'tool_search', input: '{"query":"send an invoice"}' }],
  },
  {
    from: 'model',
    text: '',
    calls: [
      { id: 'b', name: 'tool_call', input: '{"name":"billing__send_invoice","arguments":{"number":7}}' },
    ],
  },
  { from: 'model', text: 'Invoice 7 is on its way.' },
]
const lines: Line[] = [{ from: 'user', text: 'Send invoice 7.' }]
const sent: string[] = []
for (const reply of script) {
  const turn = await adapter.begin(lines)
  sent.push(JSON.stringify(turn.parts.lines).slice(0, -1))
  assert.deepEqual(
    turn.parts.tools.map(({ name }) => name),
    ['tool_search', 'tool_call'],
  )
  lines.push(reply, ...(await turn.run(reply)).messages)
}
assert.ok(lines.some(({ text }) => text === 'invoice 7: send done'))
for (const [index, body] of sent.entries()) assert.ok(body.startsWith(sent[index - 1] ?? ''))
process.stdout.write(`${lines.at(-1)?.text}\n`)
