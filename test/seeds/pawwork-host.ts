/** A host with PawWork's preset and its two worktree tools, for the suite of its document. */

import type { Tool } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { type PawworkPart, pawwork, pawworkSteps } from '@toolwell/presets'
import type { ScriptedCall, ScriptedReply } from '@toolwell/testing'
import { startHost, type TestHost } from '../../packages/core/test/support/host.js'
import { mergeOptions } from '../../packages/core/test/support/merge-options.js'
import { tool } from '../../packages/core/test/support/tools.js'

export const ENTER = 'enter-worktree'
export const EXIT = 'exit-worktree'
export const enter: Tool = {
  name: ENTER,
  description:
    'Moves the session into a worktree of its own.\n\nNever say EnterWorktree: the name is enter-worktree.',
  card: 'Work on a branch in a worktree of its own.',
  insteadOf: 'use this, not git worktree in bash',
  defer: true,
  inputSchema: {
    type: 'object',
    properties: { branch: { type: 'string', description: 'The branch to work on', minLength: 1 } },
    required: ['branch'],
    additionalProperties: false,
  },
  execute: ({ branch }) => `on ${branch}`,
}
export const exit: Tool = {
  name: EXIT,
  description: 'Brings the session back to the project.',
  card: 'Back to the project.',
  defer: true,
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  execute: () => 'back',
}
export const tools = (): Tool[] => [tool('bash'), tool('read'), enter, exit]
export const EAGER = ['bash', 'read', 'tool_info']

export const calls = (...made: readonly ScriptedCall[]): ScriptedReply => ({ calls: [...made] })
export const loads = (name: string): ScriptedCall => ({ name: 'tool_info', arguments: { name } })
export const info = (name: string) => calls(loads(name))
export const call = (name: string, input: object = {}) => calls({ name, arguments: input })
export const done: ScriptedReply = { text: 'Done.' }
export const start = (
  script: readonly ScriptedReply[] = [],
  options: object = {},
  setup: Parameters<typeof startHost>[2] = {},
) =>
  startHost(
    mergeOptions({ ...pawwork(), tools: tools() }, options),
    [...script, done, done, done, done],
    setup,
  )

/** The description of `tool_info`: where the cards stand. */
export const cards = (host: TestHost, index = -1) =>
  host.body(index).tools?.find((each) => each.function.name === 'tool_info')?.function.description ?? ''
export const declared = (host: TestHost, name: string, index = -1) =>
  host.body(index).tools?.find((each) => each.function.name === name)?.function
export const reminders = (host: TestHost, index = -1) =>
  host.body(index).messages.filter((each) => String(each.content).includes('<system-reminder>'))
export const answers = (host: TestHost) =>
  host.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))

/** A stored call of `tool_info`, as that system keeps it. */
export const part = (name: unknown, status = 'completed', tool = 'tool_info'): PawworkPart => ({
  type: 'tool',
  tool,
  callID: `call-${String(name)}`,
  state: { status, input: { name } },
})
/** A first request after an import of these parts. */
export const derive = async (parts: readonly PawworkPart[], options: object = {}) => {
  const host = await start([], options)
  const report = await host.conversation.importSteps(pawworkSteps(parts))
  await host.ask('go')
  return { host, report }
}

/** A session whose history is nothing but a summary after so many steps, and its next request. */
export const compacted = async (script: readonly ScriptedReply[], steps: number) => {
  const host = await start(script)
  host.say('go')
  for (let step = 0; step < steps; step++) await host.step()
  const before = [...host.messages]
  host.messages.splice(0, host.messages.length, {
    role: 'user',
    content: 'What happened so far, in short.',
  })
  await openaiChat(host.conversation).compact(before, host.messages)
  await host.step()
  return host
}
