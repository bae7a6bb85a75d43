/** Checks docs/compatibility/edge-cases.md: every case is listed, and the named files test it. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8')
const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)

const CASES = [
  ...numbered('SF', 7),
  ...numbered('CB', 12),
  ...numbered('QW', 21),
  ...numbered('QW2', 10),
  ...numbered('PW', 17),
  ...numbered('JT', 6),
  ...numbered('WA', 5),
  'WA2200',
  ...numbered('ZE', 8),
  ...numbered('FA', 7),
  ...numbered('MK', 6),
  'PI-1',
  'hermes-45147',
  'strike-1181',
  'yolop-66',
  'OM',
  'goclaw-993',
  'openclaw-97911',
  'openclaw-111704',
  'hermes-73175',
  'hermes-100979',
  'ironclaw-5149',
  'codewhale-1419',
  ...['42835', '90085', '80499', '79970', '56551', '18370'].map((number) => `claude-${number}`),
  'codegraph-1696',
]

/** A row names test files in code quotes, or gives a reason. */
const rows = read('docs/compatibility/edge-cases.md')
  .split('\n')
  .flatMap((line) => {
    const [, id, , here] = /^\| ([\w-]+) \| (.*?) \| (.*) \|$/.exec(line) ?? []
    if (id === undefined || here === undefined || id === 'case') return []
    const files = [...here.matchAll(/`([^`]*\.test\.ts)`/g)].map(([, file = '']) => file)
    return [{ id, here, files }]
  })

/** Lists the titles of the tests that a file runs: `it` and `test`, plain or with `each`, without skipped ones. */
function titlesOf(code: string): string[] {
  const titles: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [callee, ...modifiers] = chainOf(node.expression)
      if (modifiers.some((modifier) => /^(?:skip|todo|skipIf|runIf|fails)$/.test(modifier))) return
      const [title] = node.arguments
      if ((callee === 'it' || callee === 'test') && title && ts.isStringLiteralLike(title))
        titles.push(title.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('test.ts', code, ts.ScriptTarget.Latest))
  return titles
}

/** `it.each([…])` becomes `it`, `each`. */
function chainOf(node: ts.Expression): string[] {
  if (ts.isIdentifier(node)) return [node.text]
  if (ts.isPropertyAccessExpression(node)) return [...chainOf(node.expression), node.name.text]
  if (ts.isCallExpression(node)) return chainOf(node.expression)
  return ts.isTaggedTemplateExpression(node) ? chainOf(node.tag) : []
}

const known = new Map<string, readonly string[]>()
const titlesIn = (file: string) => {
  const titles = known.get(file) ?? titlesOf(read(file))
  known.set(file, titles)
  return titles
}

it('lists the titles of tests that run', () => {
  const [skip, todo] = ['skip', 'todo']
  const code = `
    // it('in a comment', () => {})
    const text = "it('in a string', () => {})"
    it('plain', () => {})
    test("isn\\'t", () => {})
    it.each([1])('each %s', () => {})
    it.each<number>([1])(\`typed\`, () => {})
    it.${skip}('skipped', () => {})
    it.${todo}('planned')
    it.${skip}.each([1])('skipped each', () => {})
    it.skipIf(true)('skipped here', () => {})
    describe('a group', () => { it('inside', () => {}) })
    describe.${skip}('a skipped group', () => { it('skipped inside', () => {}) })
    expect('it').toBe('plain too')
  `
  expect(titlesOf(code)).toEqual(['plain', "isn't", 'each %s', 'typed', 'inside'])
})

it('lists every case once', () => {
  expect(rows.map(({ id }) => id)).toEqual(CASES)
})

describe.each(rows)('$id', ({ id, here, files }) => {
  it('has a test in every named file whose title begins with its number, or a reason', () => {
    expect(here.length).toBeGreaterThan(20)
    for (const file of files) {
      const numbers = titlesIn(file).flatMap((title) => title.split(': ')[0]?.split(', ') ?? [])
      expect(numbers).toContain(id)
    }
  })
})
