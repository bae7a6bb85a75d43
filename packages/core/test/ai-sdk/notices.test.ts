/** Through the SDK, a notice is always appended to the output of the last result. */
import { describe, expect, it } from 'vitest'
import { mixed, server, tool } from '../support/tools.js'
import { type Body, call, calls, majors, said, search, startHost } from './support.js'

const outputs: Readonly<Record<string, () => unknown>> = {
  text: () => 'plain words',
  JSON: () => ({ plain: 'words' }),
  'an error': () => {
    throw new Error('plain words')
  },
}
const rows = majors.flatMap(({ major }) =>
  (['chat', 'responses'] as const).flatMap((wire) =>
    Object.keys(outputs).map((kind) => ({ major, wire, kind })),
  ),
)

/** The texts of all results of a request. */
function results(body: Body): string[] {
  const { messages, input } = body as unknown as Record<
    string,
    readonly Record<string, unknown>[] | undefined
  >
  return (messages ?? input ?? []).flatMap(({ role, type, content, output }) =>
    role === 'tool' ? [String(content)] : type === 'function_call_output' ? [String(output)] : [],
  )
}

describe.each(rows)('AI SDK $major over $wire, behind $kind', ({ major, wire, kind }) => {
  it('joins the output, stays there, and is in no history of the host', async () => {
    const tools = [...mixed(), tool('last_tool', { execute: outputs[kind] as () => unknown })]
    const script = [
      calls(search('select:worktree'), call('last_tool')),
      calls(call('read_file')),
      said(),
      said(),
    ]
    const options = { tools, mode: 'on', delivery: 'bridge' } as const
    const host = await startHost({ major, wire, script, options })
    await host.ask('Go.')
    await host.ask('Thanks.')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    const [found, last] = results(host.body(1))
    expect(found).not.toContain('tool-update')
    // Version 7 sends an error as JSON around its text.
    const read = last?.replaceAll('\\n', '\n')
    expect(read).toMatch(/plain[\s\S]*words[\s\S]*\n\n<tool-update>\n/)
    expect(read).toMatch(/not git worktree in a shell\n<\/tool-update>("\})?$/)
    for (const index of [2, 3]) expect(results(host.body(index)).slice(0, 2)).toEqual([found, last])
    expect(JSON.stringify(host.messages)).not.toContain('tool-update')
  })
})

describe.each(majors)('AI SDK $major over responses, native', ({ major }) => {
  it('lets a notice wait behind a search, which has no words, and tells it with the next result', async () => {
    const script = [calls(search('select:worktree')), calls(call('git__enter_worktree')), said()]
    const options = { tools: mixed(), mode: 'on', delivery: 'native' } as const
    const host = await startHost({ major, wire: 'responses', named: 'gpt-5.4', script, options })
    host.well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    await host.ask('Go.')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.raw(1)).not.toContain('tool-update')
    expect(results(host.body(2))).toEqual([
      expect.stringMatching(/^enter_worktree ran with[\s\S]*in a shell/),
    ])
  })
})
