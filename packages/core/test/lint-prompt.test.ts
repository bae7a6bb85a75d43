import { createToolwell, type Tool, type ToolwellOptions } from '@toolwell/core'
import { lintPrompt } from '@toolwell/core/lint'
import { describe, expect, it } from 'vitest'
import { server, tool } from './support/tools.js'

const TOOLS: readonly Tool[] = [
  tool('read_file'),
  tool('todo_write', { defer: true }),
  tool('enter-worktree', { defer: true, aliases: ['openBranch'] }),
  tool('askUser', { defer: true }),
  tool('list', { defer: true }),
  tool('search', { defer: true }),
  tool('Task', { defer: true }),
  tool('mysql', { defer: true }),
  tool('поиск_задач', { defer: true }),
  tool('WebFetch', { defer: true }),
  tool('deploy', { defer: true }),
  tool('monitor', { defer: true }),
  tool('log_in', { defer: true }),
  tool('发送', { defer: true }),
  ...server('tracker', ['close_issue', 'list_issues']),
]

const well = createToolwell({ tools: TOOLS })
const named = (system: string) => lintPrompt(well, { system }).flatMap(({ tools }) => tools)

describe('a deferred tool is found in a system prompt', () => {
  it.each([
    ['todo_write', 'Keep a list of your steps with todo_write.'],
    ['todo_write', 'TODO_WRITE comes first, whatever was asked.'],
    ['todo_write', 'Plan (TodoWrite), work, then report.'],
    ['todo_write', 'Use the todo write tool for long tasks.'],
    ['todo_write', 'Plans go into **todo_write**, always.'],
    ['todo_write', '{"first": "todo_write"}'],
    ['todo_write', 'First todo_write/todo_write, then the rest.'],
    ['enter-worktree', 'Before you edit, enter-worktree.'],
    ['enter-worktree', 'Call Enter-Worktree before an edit.'],
    ['enter-worktree', 'Work goes on behind openBranch.'],
    ['askUser', 'In doubt, askUser.'],
    ['askUser', 'In doubt call ask_user and wait.'],
    ['list', 'Call `list` to see what there is.'],
    ['list', 'Start with list(path).'],
    ['search', 'Use the search tool before you answer.'],
    ['search', 'Answer with the "search" tool only.'],
    ['search', '请先使用 search 工具再回答。'],
    ['Task', 'Long work goes to the Task tool.'],
    ['todo_write', '先用todo_write列出步骤。'],
    ['поиск_задач', 'Сначала поиск_задач, потом ответ.'],
    ['tracker/close_issue', 'When it is done, close_issue.'],
    ['tracker/close_issue', 'When it is done: tracker__close_issue.'],
    ['tracker/close_issue', 'When it is done: tracker/close_issue.'],
    ['tracker/close_issue', 'When it is done: mcp__tracker__close_issue.'],
    ['tracker/close_issue', 'When it is done: tracker.closeIssue.'],
    // An order with a negation in it.
    ['askUser', 'Never guess a path without calling askUser.'],
    ['askUser', 'Do not start before askUser has answered.'],
    ['askUser', 'If you do not know, askUser.'],
    ['askUser', 'A guess is not good enough: use askUser.'],
    ['askUser', "Don't guess. Use askUser."],
    // A negation on another line, or in another item of a list.
    ['todo_write', '- Do not use emojis\n- Use todo_write for every plan'],
    ['todo_write', 'Never commit secrets\nUse todo_write for every plan'],
    ['todo_write', '* Never guess URLs\n* todo_write: always, and first'],
    ['todo_write', '- Never use:\n  - askUser\n- todo_write comes first'],
    ['todo_write', 'Never call:\n- `list`\n\nPlan with todo_write.'],
    ['todo_write', 'Never:\n- skip todo_write'],
    ['todo_write', 'Avoid mistakes:\n- Write steps down with todo_write'],
    ['todo_write', 'When you do not know:\n- call todo_write'],
    // A negation of something else than its use.
    ['askUser', "Don't forget to call askUser."],
    ['askUser', 'NEVER forget askUser.'],
    ['askUser', 'Under pressure never skip askUser.'],
    ['askUser', 'Do not hesitate to use askUser.'],
    ['askUser', "Don't be afraid to use askUser."],
    ['askUser', 'It is not optional to use askUser.'],
    ['askUser', 'You cannot finish without askUser.'],
    ['askUser', "If you can't find it use askUser."],
    ['askUser', 'When it does not work use askUser.'],
    ['askUser', 'You may not have read the whole file, then call askUser.'],
    ['askUser', 'Do not use emojis, call askUser.'],
    ['askUser', 'Do not use bash when askUser answers faster.'],
    ['askUser', 'Do not use any tool other than askUser.'],
    ['askUser', 'If you do not call askUser first, the edit fails.'],
    ['askUser', 'Do not answer at once and use askUser.'],
    ['askUser', 'askUser must not be skipped.'],
    ['askUser', 'Not using askUser is a mistake.'],
    ['askUser', 'Do not use memory, askUser is right.'],
    ['askUser', 'If askUser is not available, stop.'],
    ['askUser', 'Forbidden: guessing without askUser.'],
    ['askUser', 'Wenn du es nicht weißt, nutze askUser.'],
    ['askUser', 'Si vous ne savez pas, utilisez askUser.'],
    ['askUser', 'askUser is not optional.'],
    ['askUser', 'Vergiss nicht, askUser aufzurufen.'],
    ['askUser', "N'oubliez pas d'utiliser askUser."],
    ['askUser', '不要忘记使用 askUser。'],
    // Other forms of a name.
    ['deploy', 'Finish with "deploy".'],
    ['deploy', "Call 'deploy' at the end."],
    ['deploy', '<tool>deploy</tool> comes last.'],
    ['deploy', 'Answer with <invoke name="deploy">.'],
    ['deploy', 'Call deploy when the tests pass.'],
    ['deploy', 'Call the tool deploy.'],
    ['deploy', 'Run deploy first.'],
    ['monitor', 'Use monitor to watch logs'],
    ['WebFetch', 'Pages are read by webfetch.'],
    ['WebFetch', 'WEBFETCH every page.'],
    ['WebFetch', 'Read pages with web-fetch.'],
    ['todo_write', 'Write plans down with todo-write.'],
    ['log_in', 'Call login first.'],
    ['发送', '请使用发送工具'],
    ['发送', '写好以后请调用发送，然后结束。'],
  ])('%s in %j', (id, text) => {
    expect(named(text)).toEqual([id])
  })
})

describe('nothing is found', () => {
  it.each([
    ['part of a word', 'Listen to what is listed, and search_all the searchable listings.'],
    ['everyday words', 'Make a list, search the web if you must, and do the task.'],
    ['everyday words before a dot', 'Give me a list. Then search. One task.'],
    [
      'words that only touch',
      'A todo, write it down. Ask user questions rarely. Enter worktree names by hand.',
    ],
    ['words in brackets', 'The list(s) you make, the task(s) you do.'],
    ['a product with a capital inside', 'It runs on MySQL and TaskRabbit.'],
    ['a longer name', 'Read todo_write_guide.md and re-enter-worktree-2.'],
    ['a parameter', 'Pass the `search` parameter, and action=list or mode="search".'],
    ['a tool that is in sight', 'Always begin with read_file, `read_file` and the read file tool.'],
    ['a prohibition', 'Never call todo_write. Do not use the search tool. You must not run `list`.'],
    ['a comparison', 'Prefer read_file over `list`, and act instead of calling askUser.'],
    [
      'a prohibition behind the name',
      'todo_write is forbidden. `list` must not be used. askUser should never be called. todo_write and askUser are not allowed.',
    ],
    [
      'a prohibition in other words',
      "Refrain from using todo_write. Stop using askUser. Avoid todo_write. You are not allowed to call askUser. Don't ever run `list`. It is forbidden to use todo_write. Never, under any circumstances, call askUser. There is no need to call todo_write.",
    ],
    [
      'a prohibition in still other words',
      'No longer use todo_write. Under no circumstances use askUser. Do not use tools such as todo_write. You do not have access to askUser. todo_write is not available. askUser is disabled.',
    ],
    ['a prohibition with a list', 'Do not use the read_file, `list` or todo_write tools, nor call askUser.'],
    ['a list below a prohibition', 'Forbidden tools:\n- todo_write\n- askUser, in every case'],
    ['a longer list below one', 'You must never call these tools:\n\n1. todo_write\n2. askUser\n3. `list`\n'],
    ['a list of bare names below one', 'Never use:\ntodo_write\naskUser'],
    ['a list below a heading', '## Do not use\n\n* todo_write\n* askUser'],
    ['a list of orders below one', 'Never:\n- use todo_write\n- call askUser'],
    [
      'a German prohibition',
      'Verwende niemals todo_write. Benutze askUser nicht. Rufe askUser nie auf. todo_write darf nicht verwendet werden. askUser ist verboten. Vermeide todo_write. Niemals askUser aufrufen. Bitte todo_write nicht verwenden. Verwende weder todo_write noch askUser.',
    ],
    [
      'a French prohibition',
      "N'utilise jamais todo_write. Ne pas appeler askUser. N'appelez pas l'outil todo_write. Évitez d'utiliser askUser. askUser est interdit. todo_write ne doit pas être utilisé. Vous ne devez pas utiliser askUser.",
    ],
    [
      'a Chinese prohibition',
      '不要使用 todo_write。请勿调用askUser。禁止使用发送工具。todo_write 已禁用。严禁使用 askUser。askUser 不允许使用。',
    ],
    ['a file', 'Read src/todo_write.ts, todo_write.py and ./docs/todo_write/index.md in src/todo_write.'],
    ['a page', 'See https://example.com/~me/todo_write and http://localhost:80/askUser?x=todo_write.'],
    ['a kind of tools', 'With search tools like grep, or the monitor tools of others.'],
    ['a word that is spoken', 'Answer: "list". The word "deploy" means that.'],
    ['a key', '{"search": 1, "deploy": true}'],
    [
      'a word that everyone writes in one',
      'The login page, a use case: this use search brings, a call list for all.',
    ],
    ['an address', 'See https://example.com/list/search?task=1 for more.'],
    ['no text at all', ''],
  ])('in %s', (_, text) => {
    expect(named(text)).toEqual([])
  })
})

describe('a finding', () => {
  it('QW-15: says what is named, where, how often, and what to do', () => {
    const system = 'You plan.\nCall todo_write first.\nAgain: todo_write.'
    expect(lintPrompt(well, { system })).toEqual([
      {
        tools: ['todo_write'],
        named: 'todo_write',
        where: { kind: 'system' },
        index: system.indexOf('todo_write'),
        times: 2,
        excerpt: 'You plan. Call todo_write first. Again: todo_write.',
        fix: 'todo_write is deferred, and the system prompt names it: set alwaysLoad: true on it, or reword the system prompt.',
      },
    ])
    const [late] = lintPrompt(well, { system: 'Finish with close_issue.' })
    expect(late?.fix).toContain('or add "tracker__close_issue" to eager')
  })

  it('is gone when its advice is taken', () => {
    const system = 'Call todo_write first and close_issue last.'
    const find = (options: ToolwellOptions) => lintPrompt(createToolwell(options), { system }).length
    const eager = TOOLS.map((each) => (each.name === 'todo_write' ? { ...each, alwaysLoad: true } : each))
    expect([
      find({ tools: TOOLS }),
      find({ tools: eager }),
      find({ tools: eager, eager: ['tracker__close_issue'] }),
    ]).toEqual([2, 1, 0])
  })

  it('follows the rules of the agent', () => {
    const system = 'Call close_issue.'
    const one = createToolwell({
      tools: TOOLS,
      rules: [{ agent: 'triage', source: 'tracker', defer: false }],
    })
    expect(lintPrompt(one, { system })).toHaveLength(1)
    expect(lintPrompt(one, { system, agent: 'triage' })).toEqual([])
  })

  it('names all that share a name, and none where a tool in sight has it', () => {
    const twice = createToolwell({ tools: [...TOOLS, ...server('mail', ['list_issues'])] })
    const [finding] = lintPrompt(twice, { system: 'Begin with list_issues.' })
    expect(finding?.tools).toEqual(['mail/list_issues', 'tracker/list_issues'])
    expect(finding?.fix).toContain('2 deferred tools are called list_issues')
    const own = createToolwell({ tools: [...TOOLS, tool('list_issues')] })
    expect(lintPrompt(own, { system: 'Begin with list_issues.' })).toEqual([])
  })

  it('covers the description and the guidelines of a visible tool, and names the tool', () => {
    const one = createToolwell({
      tools: [
        ...TOOLS,
        tool('edit', { description: 'Edits a file. Call enter-worktree first.' }),
        tool('plan', { guidelines: ['Write every step down with todo_write.'] }),
        tool('away', { description: 'Needs askUser.', defer: true }),
      ],
    })
    expect(lintPrompt(one).map(({ tools, where }) => [tools, where])).toEqual([
      [['enter-worktree'], { kind: 'description', tool: 'edit' }],
      [['todo_write'], { kind: 'description', tool: 'plan' }],
    ])
  })

  it("takes a bare name in a server's text for that server's tool", () => {
    const one = createToolwell({
      tools: [
        ...server('mail', ['send'], { description: 'Sends. Read the result of list_issues first.' }),
        ...server('calendar', ['send'], { description: 'Sends. Read tracker__list_issues first.' }),
        ...server('tracker', ['send'], { description: 'Sends. Read list_issues first.' }),
        ...TOOLS,
      ],
      eager: ['mail/send', 'calendar/send', 'tracker/send'],
    })
    expect(lintPrompt(one).map(({ where }) => where)).toEqual([
      { kind: 'description', tool: 'calendar/send' },
      { kind: 'description', tool: 'tracker/send' },
    ])
  })

  it('takes time in proportion to the text, whatever it is made of', () => {
    const system = [
      'a_'.repeat(20_000),
      '`'.repeat(40_000),
      'not '.repeat(10_000),
      'the '.repeat(10_000),
      'if '.repeat(10_000),
      '-./:'.repeat(10_000),
      '('.repeat(40_000),
      'todo_write '.repeat(2_000),
    ].join('\n')
    expect(named(system)).toEqual(['todo_write'])
  })
})
