/** The tables of cases that other systems had to learn: every case is listed, and every test they name exists. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
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

/** A row names tests as “title” in `file`; a row without any gives a reason. */
const rows = read('docs/edge-cases.md')
  .split('\n')
  .flatMap((line) => {
    const [, id, , here] = /^\| ([\w-]+) \| (.*?) \| (.*) \|$/.exec(line) ?? []
    if (id === undefined || here === undefined || id === 'case') return []
    const tests = [...here.matchAll(/“(.*?)” in `(.*?)`/g)].map(([, title = '', file = '']) => ({
      title,
      file,
    }))
    return [{ id, here, tests }]
  })

it('lists every case once', () => {
  expect(rows.map(({ id }) => id)).toEqual(CASES)
})

describe.each(rows)('$id', ({ id, here, tests }) => {
  it('is guarded by tests that exist and begin with its number, or cannot occur for a reason', () => {
    expect(here.length).toBeGreaterThan(20)
    for (const { title, file } of tests) {
      expect(read(file).replace(/\\(['"`])/g, '$1')).toContain(title)
      expect(title.split(': ')[0]?.split(', ')).toContain(id)
    }
  })
})
