/** The search tool asks for queries in the language of the tool descriptions. On the wire. */
import { expect, it } from 'vitest'
import { startHost } from './support/host.js'
import { tool } from './support/tools.js'

it.each([
  ['English', 'Lists the issues of a project.', 'What you want to do, in English, or select:'],
  ['Chinese', '列出项目的所有问题。', 'What you want to do, in Chinese, or select:'],
  ['Japanese', 'プロジェクトの課題を表示する。', 'What you want to do, in Japanese, or select:'],
  ['Russian', 'Список задач проекта.', 'in the language of the tool descriptions, or select:'],
  ['no clear language', 'Liste les tâches.', 'What you want to do, or select:'],
])('descriptions in %s', async (_, description, expected) => {
  const names = ['list_issues', 'list_tasks', 'list_cards']
  const tools = names.map((name) => tool(name, { source: 'tracker', description }))
  const host = await startHost({ tools, mode: 'on', delivery: 'append' }, [{ text: 'done' }])
  await host.ask('go')
  expect(host.raw(0)).toContain(expected)
})
