/** A conversation over a catalogue, in which the test is the model: each turn's calls go through a real wire adapter. */
import type { Toolwell } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'

export interface Play {
  /** Makes these calls and gives what the model reads of each. */
  turn(...calls: readonly [name: string, input: Record<string, unknown>][]): Promise<string[]>
  search(query: string): Promise<string>
  call(name: string, input: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<string>
  /** The tools array of the last request. */
  readonly tools: readonly string[]
  /** The sent requests, in order. */
  readonly requests: readonly string[]
}

export async function play(well: Toolwell, id: string, principal?: string): Promise<Play> {
  const chat = openaiChat(await well.open({ id, ...(principal === undefined ? {} : { principal }) }))
  const messages: ChatMessage[] = [{ role: 'user', content: `Go on with ${id}.` }]
  let next = 0
  let tools: string[] = []
  const requests: string[] = []
  const run = async (
    calls: readonly (readonly [string, Record<string, unknown>])[],
    options: { signal?: AbortSignal } = {},
  ) => {
    const turn = await chat.begin(messages)
    requests.push(JSON.stringify(turn.parts))
    tools = (turn.parts.tools ?? []).map((tool) => tool.function.name)
    const reply: ChatMessage = {
      role: 'assistant',
      content: null,
      tool_calls: calls.map(([name, input]) => ({
        id: `call_${++next}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    }
    const { messages: results } = await turn.run(reply, options)
    messages.push(reply, ...results)
    return results.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
  }
  const one = async (...given: Parameters<typeof run>) => (await run(...given))[0] ?? ''
  return {
    turn: (...calls) => run(calls),
    search: (query) => one([['tool_search', { query }]]),
    call: (name, input, options) => one([['tool_call', { name, arguments: input }]], options),
    get tools() {
      return tools
    },
    requests,
  }
}
