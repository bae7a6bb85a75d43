/**
 * Runs every ```console block of the docs from the root of the clone and compares the output.
 * UPDATE_GOLDEN=1 writes the output into the docs instead; review the diff.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { toolwell } from '../packages/cli/test/support/run.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
const files = ['README.md', 'packages/cli/README.md', ...docs.map((file) => join('docs', file))].filter(
  (file) => file.endsWith('.md'),
)
const read = (file: string) => readFileSync(join(root, file), 'utf8')
/** Folders that the commands share, separate from those of the real user. */
const home = mkdtempSync(join(tmpdir(), 'toolwell-docs-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const env = {
  HOME: home,
  XDG_CACHE_HOME: join(home, 'cache'),
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_DATA_HOME: join(home, 'data'),
  XDG_STATE_HOME: join(home, 'state'),
}
const BLOCK = /^```console\n([\s\S]*?)^```/gm

/**
 * Returns the block with the current output of its commands. A command starts with `$ toolwell ` or `$ echo '…' | toolwell `, also with
 * `npx toolwell`. Spaces separate words, and double quotes group them.
 */
async function played(block: string): Promise<string> {
  let text = ''
  for (const line of block.split('\n').filter((each) => each.startsWith('$ '))) {
    const [, input, rest] = /^\$ (?:echo '([^']*)' \| )?(?:npx )?toolwell (.*)$/.exec(line) ?? []
    if (rest === undefined) throw new Error(`This test cannot run the command: ${line}`)
    const words = [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
    const { output, errors } = await toolwell(words, { folder: root, env, input: `${input ?? ''}\n` })
    text += `${line}\n${output}${errors}`
  }
  return text
}

const shown = files.filter((file) => read(file).match(BLOCK))

it('finds them', () => {
  expect(shown).toEqual(
    expect.arrayContaining(['README.md', 'packages/cli/README.md', join('docs', 'reference', 'cli.md')]),
  )
})

it.each(shown)('%s shows what its commands print', async (file) => {
  const before = read(file)
  let after = before
  for (const [, block = ''] of before.matchAll(BLOCK)) {
    const text = await played(block)
    after = after.replace(`\`\`\`console\n${block}\`\`\``, () => `\`\`\`console\n${text}\`\`\``)
  }
  if (process.env.UPDATE_GOLDEN) writeFileSync(join(root, file), after)
  expect(process.env.UPDATE_GOLDEN ? read(file) : before).toBe(after)
})
