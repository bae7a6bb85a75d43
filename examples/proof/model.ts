/** The scripted model of the proof: what it does at each request is fixed here, how it calls a tool follows the surface. */
import type { ChatRequestBody, ScriptedCall, ScriptedReply } from '@toolwell/core/testing'

type Step = (request: ChatRequestBody) => ScriptedReply | Promise<ScriptedReply>

/** A tool in the tools array is called directly, any other through the bridge: as a model that reads its prompt would. */
function use(request: ChatRequestBody, name: string, input: object): ScriptedCall {
  const declared = (request.tools ?? []).some((tool) => tool.function.name === name)
  return declared ? { name, arguments: input } : { name: 'tool_call', arguments: { name, arguments: input } }
}

const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })

export const task =
  'Invoice totals leave out the last item. File a bug, fix it, prepare a patch version with a changelog entry, and commit.'

export const steps: Record<'task' | 'busy' | 'killed' | 'resumed' | 'fork' | 'compacted', readonly Step[]> = {
  task: [
    (request) => ({
      calls: [use(request, 'search_text', { pattern: 'items.length', include: ['*.js'], context_lines: 1 })],
    }),
    () => ({ calls: [search('create and close issues')] }),
    (request) => ({
      calls: [
        use(request, 'tracker__create_issue', {
          title: 'Invoice total leaves out the last item',
          kind: 'bug',
          priority: 'high',
          labels: ['invoices'],
          body: 'total() in src/invoice.js stops one item early.',
          environment: { version: '1.4.0', platform: 'other', frequency: 'always' },
        }),
        use(request, 'edit_file', {
          path: 'src/invoice.js',
          edits: [{ old_text: 'i < items.length - 1', new_text: 'i < items.length' }],
        }),
      ],
    }),
    () => ({ calls: [search('bump the package version'), search('add a changelog entry')] }),
    (request) => ({
      calls: [
        use(request, 'release__bump_version', { level: 'patch' }),
        use(request, 'release__add_changelog_entry', {
          group: 'Fixed',
          text: 'The total of an invoice includes its last item.',
          issues: [1],
        }),
      ],
    }),
    // Never searched for, wrong case, and called as if it were there: checked, run, and raised by its success.
    () => ({
      calls: [
        {
          name: 'Repository-CreateCommit',
          arguments: {
            message: {
              summary: 'Include the last item in the invoice total',
              trailers: [{ key: 'Closes', value: '#1' }],
            },
          },
        },
      ],
    }),
    () => ({
      text: 'Fixed in 1.4.1: the loop stopped one item early. Bug #1 is filed and the change is committed.',
    }),
  ],
  busy: [
    () => ({ status: 503, error: 'overloaded' }),
    (request) => ({
      calls: [
        use(request, 'delegate', {
          task: 'How many issues are open, and what are they?',
          tools: ['tracker/list_issues'],
        }),
      ],
    }),
    (request) => ({ calls: [use(request, 'tracker__list_issues', {})] }),
    () => ({ text: 'One issue is open: #1, invoice totals.' }),
    () => ({ text: 'The helper reports one open issue, #1.' }),
  ],
  killed: [
    () => ({ calls: [search('draft an e-mail')] }),
    // The process that asked is killed before this is answered.
    () => new Promise<never>(() => undefined),
  ],
  resumed: [
    (request) => ({
      calls: [
        use(request, 'mail__create_draft', {
          to: [{ email: 'ada@example.com', name: 'Ada' }],
          subject: 'Invoice totals fixed',
          body: { content: 'Fixed in 1.4.1.' },
        }),
      ],
    }),
    () => ({ text: 'The draft for Ada is ready.' }),
  ],
  fork: [() => ({ text: 'In this branch only the bug tracker has been raised so far.' })],
  compacted: [
    () => ({ text: 'The invoice bug was fixed in 1.4.1 and committed; a draft for Ada is waiting.' }),
    (request) => ({
      calls: [
        use(request, 'tracker__close_issue', {
          number: 1,
          resolution: 'done',
          comment: 'Fixed; will be in 1.4.1.',
        }),
      ],
    }),
    () => ({ text: 'Bug #1 is closed.' }),
  ],
}
