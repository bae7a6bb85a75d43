/** The scripted model of the proof. The script fixes each step; the surface decides how a tool is called. */
import { join } from 'node:path'
import type { ChatRequestBody, ScriptedCall, ScriptedReply } from '@toolwell/testing'

export type Step = (request: ChatRequestBody) => ScriptedReply | Promise<ScriptedReply>

/** Calls a declared tool directly and any other through the bridge, as a real model would. */
function use(request: ChatRequestBody, name: string, input: object): ScriptedCall {
  const declared = (request.tools ?? []).some((tool) => tool.function.name === name)
  return declared ? { name, arguments: input } : { name: 'tool_call', arguments: { name, arguments: input } }
}

const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })

export const task =
  'Ada says that invoice totals leave out the last item. Fix it, remember what was wrong, and note it for the next release.'
export const LATER = 'edit a file by replacing text'
export const HIDDEN = 'filesystem__create_directory'
export const LEARNT = 'Fixed in 1.4.1: the loop over the items stopped one early.'
export const SHIPPED = '1.4.1 has been shipped.'

type Scene = 'task' | 'busy' | 'killed' | 'resumed' | 'fork' | 'compacted'

export function scenes(project: string): Record<Scene, readonly Step[]> {
  const at = (...path: string[]) => join(project, ...path)
  return {
    task: [
      () => ({ calls: [search('read the contents of a text file')] }),
      (request) => ({
        calls: [use(request, 'filesystem__read_text_file', { path: at('src', 'invoice.js') })],
      }),
      () => ({ calls: [search(LATER), search('create entities in the knowledge graph')] }),
      (request) => ({
        calls: [
          use(request, 'filesystem__edit_file', {
            path: at('src', 'invoice.js'),
            edits: [{ oldText: 'i < items.length - 1', newText: 'i < items.length' }],
          }),
          use(request, 'memory__create_entities', {
            entities: [{ name: 'invoice total', entityType: 'bug', observations: ['Reported by Ada.'] }],
          }),
        ],
      }),
      // Calls a tool that was never searched for, in the wrong case. It is checked, run and then loaded.
      () => ({ calls: [{ name: 'Filesystem-CreateDirectory', arguments: { path: at('release-notes') } }] }),
      () => ({ text: 'Fixed: the loop stopped one item early. I have made a folder for the release notes.' }),
    ],
    busy: [
      () => ({ status: 503, error: 'overloaded' }),
      (request) => ({
        calls: [
          use(request, 'delegate', {
            task: `What is in ${project}?`,
            tools: ['filesystem/list_directory'],
          }),
        ],
      }),
      (request) => ({ calls: [use(request, 'filesystem__list_directory', { path: project })] }),
      () => ({ text: 'package.json, src and release-notes.' }),
      () => ({ text: 'The helper found package.json, src and release-notes.' }),
    ],
    killed: [
      (request) => ({
        calls: [
          search('add observations to entities'),
          use(request, 'filesystem__read_text_file', { path: at('package.json') }),
        ],
      }),
      // The process is killed before this reply.
      () => new Promise<never>(() => undefined),
    ],
    resumed: [
      (request) => ({
        calls: [
          use(request, 'memory__add_observations', {
            observations: [{ entityName: 'invoice total', contents: [LEARNT] }],
          }),
        ],
      }),
      () => ({ text: 'I have noted what was wrong.' }),
    ],
    fork: [() => ({ text: 'In this branch only tools for reading files have been loaded so far.' })],
    compacted: [
      () => ({ text: 'The invoice bug is fixed, and what was wrong is noted in memory.' }),
      (request) => ({
        calls: [
          use(request, 'memory__add_observations', {
            observations: [{ entityName: 'invoice total', contents: [SHIPPED] }],
          }),
        ],
      }),
      () => ({ text: 'Noted.' }),
    ],
  }
}
