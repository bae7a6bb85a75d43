/** A host with Qwen Code's preset and the tools that its document speaks of. */

import type { Tool } from '@toolwell/core'
import { type QwenTool, qwenCode, qwenTool } from '@toolwell/presets'
import type { ScriptedReply } from '@toolwell/testing'
import { startHost, type TestHost } from '../../packages/core/test/support/host.js'
import { mergeOptions } from '../../packages/core/test/support/merge-options.js'

const long = (about: string) =>
  `${about}.\n\n${'Says at length what it does, what it does not do, and how it is used. '.repeat(12)}`
const registered = (name: string, more: Partial<QwenTool> = {}): QwenTool => ({
  name,
  displayName: name,
  description: long(`Does ${name.replaceAll('_', ' ')}`),
  parameterSchema: {
    type: 'object',
    properties: { value: { type: 'string', description: `What ${name} works on` } },
    required: ['value'],
    additionalProperties: false,
  },
  ...more,
})
export const tool = (name: string, more: Partial<QwenTool> = {}, also: Partial<Tool> = {}): Tool =>
  qwenTool(registered(name, more), { execute: ({ value }) => `${name}: ${value}`, ...also })

/** The four tools and their hints, as the table of the document has them. */
export const HINTS = {
  monitor: 'monitor watch tail log stream background',
  send_message: 'send message task communicate notify',
  task_stop: 'task stop cancel kill background',
  web_fetch: 'web fetch url http download content',
} as const
export const DEFERRED = Object.keys(HINTS)
export const SKILLS =
  'Runs a skill. Do this before anything else.\n<available_skills>pdf, slides</available_skills>'

const tools = (): Tool[] => [
  tool('read_file'),
  tool('edit'),
  tool('todo_write', {}, { role: 'todo' }),
  tool('skill', { description: SKILLS }, { role: 'skill', dynamicDescription: true }),
  ...Object.entries(HINTS).map(([name, searchHint]) =>
    tool(name, { shouldDefer: true, alwaysLoad: false, searchHint }),
  ),
]

export const find = (query: string, more: object = {}): ScriptedReply => ({
  calls: [{ name: 'tool_search', arguments: { query, ...more } }],
})
export const call = (name: string, input: object = { value: 'x' }): ScriptedReply => ({
  calls: [{ name, arguments: input }],
})
export const done: ScriptedReply = { text: 'Done.' }
export const EAGER = ['edit', 'read_file', 'skill', 'todo_write', 'tool_search']

export const start = (
  script: readonly ScriptedReply[] = [],
  options: object = {},
  setup: Parameters<typeof startHost>[2] = {},
) => startHost(mergeOptions({ ...qwenCode(), tools: tools() }, options), [...script, done, done, done], setup)
export const system = (host: TestHost, index = -1) =>
  host
    .body(index)
    .messages.filter(({ role }) => role === 'system')
    .map(({ content }) => content)
    .join('\n')
