/** `npm run walk`, and the walk that docs/design.md shows. `npm run walk -- --write` writes it anew. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The steps of a walk, each with its folders in the order of their first visit. Single files may come and go. */
function foldersOf(walk: string): Record<string, string[]> {
  const steps: Record<string, string[]> = {}
  let step = ''
  for (const line of walk.split('\n\n')[0]?.split('\n') ?? []) {
    const [, folder] = /^ {2}(\S+) +\S+\.ts$/.exec(line) ?? []
    if (!line.startsWith(' ')) {
      step = line
      steps[step] = []
    } else if (folder && !steps[step]?.includes(folder)) steps[step]?.push(folder)
  }
  return steps
}

it('a request of the README program visits the rooms in the order that docs/design.md shows, and never goes back up', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/walk.mjs'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('No call goes back up to the front door once a conversation is open.')
  expect(stdout).toMatch(/^\d+ files in \d+ folders$/m)
  const page = readFileSync(`${root}docs/design.md`, 'utf8')
  const [, shown = ''] = /<!-- walk -->\n\n```text\n([\s\S]*?)```/.exec(page) ?? []
  expect(Object.keys(foldersOf(stdout))).toContain('run, the search')
  expect(foldersOf(shown)).toEqual(foldersOf(stdout))
})
