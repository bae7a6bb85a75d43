/** A host on any wire, with a scripted model. */
import { createToolwell } from '@toolwell/core'
import { mixed } from '../support/tools.js'
import type { Wire } from './wires.js'

export async function start(wire: Wire, options: Parameters<typeof createToolwell>[0] = {}) {
  const well = createToolwell({ tools: mixed(), mode: 'on', ...options })
  const conversation = await well.open({ id: 'x' })
  const messages: object[] = [wire.user('go')]
  let calls = 0
  return {
    well,
    conversation,
    messages,
    sent: async (on = wire, history = messages) =>
      JSON.stringify((await on.open(conversation).begin(history, {})).parts),
    async step(...made: readonly { readonly name: string; readonly arguments: unknown }[]) {
      const turn = await wire.open(conversation).begin(messages, {})
      const named = made.map((call) => ({ ...call, id: `call_${++calls}` }))
      const { reply, messages: said } = wire.reply(turn.parts, { calls: named }, calls)
      const { messages: results, answers } = await turn.run(reply)
      messages.push(...said, ...results)
      return answers.map(({ outcome }) => outcome.kind)
    },
  }
}
