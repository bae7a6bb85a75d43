/** Each promise in docs/concepts/gateway-security.md names a test by its file and its whole title. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = readFileSync(`${root}docs/concepts/gateway-security.md`, 'utf8')
const rows = page.split('\n').filter((line) => /^\| [^-]/.test(line) && line !== '| promise | test |')

it('names a test for each promise', () => {
  expect(rows.length).toBeGreaterThan(30)
  const missing = rows.filter((row) => {
    const [, file = '', title = ''] = / \| `([\w/.-]+\.test\.ts)`: "(.+)" \|$/.exec(row) ?? []
    const path = `${root}packages/${file}`
    return title === '' || !existsSync(path) || !hasTest(readFileSync(path, 'utf8'), title)
  })
  expect(missing).toEqual([])
})

/** Is the title the first argument of a call? */
function hasTest(source: string, title: string): boolean {
  const literal = title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return new RegExp(`\\(\\s*(['"\`])${literal}\\1,`).test(source)
}
