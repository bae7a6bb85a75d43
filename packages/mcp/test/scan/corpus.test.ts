/** What the scan finds in labelled definitions. `npm run bench -- scan` prints the same by technique. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { scanServers } from '../../src/scan/scan.ts'
import { ATTACKS, BENIGN, readCorpus, type Sample, UNTOUCHED } from './read-corpus.ts'
import { isHard, scanSample } from './support.ts'

const attacks = ATTACKS.flatMap(readCorpus)
const benign = BENIGN.flatMap(readCorpus)
const share = (samples: readonly Sample[], holds: (sample: Sample) => boolean) =>
  samples.filter(holds).length / samples.length

describe('labelled attacks', () => {
  it('are many, and of every technique', () => {
    expect(attacks.length).toBeGreaterThanOrEqual(250)
    expect(new Set(attacks.map(({ technique }) => technique)).size).toBeGreaterThanOrEqual(20)
  })

  it('are found', () => {
    expect(share(attacks, (sample) => scanSample(sample).length > 0)).toBeGreaterThanOrEqual(0.95)
  })

  it('are held back, with few exceptions', () => {
    expect(share(attacks, (sample) => isHard(scanSample(sample)))).toBeGreaterThanOrEqual(0.9)
  })

  it.each([...new Set(attacks.map(({ technique }) => technique))])('of %s are found', (technique) => {
    const samples = attacks.filter((sample) => sample.technique === technique)
    expect(share(samples, (sample) => scanSample(sample).length > 0)).toBeGreaterThanOrEqual(0.9)
  })
})

describe('labelled harmless definitions', () => {
  it('are many', () => expect(benign.length).toBeGreaterThanOrEqual(250))

  it('are let through', () => {
    expect(share(benign, (sample) => isHard(scanSample(sample)))).toBeLessThanOrEqual(0.01)
    expect(share(benign, (sample) => scanSample(sample).length > 0)).toBeLessThanOrEqual(0.02)
  })

  it('that the rules were written with have no hard finding at all', () => {
    const wrong = readCorpus('benign').filter((sample) => isHard(scanSample(sample)))
    expect(wrong.map(({ line, text }) => `${line}: ${text}`)).toEqual([])
  })
})

describe('definitions that no rule was mended for', () => {
  it('are found in more than half of the attacks', () => {
    expect(
      share(readCorpus(UNTOUCHED.attacks), (sample) => scanSample(sample).length > 0),
    ).toBeGreaterThanOrEqual(0.55)
  })

  it('are let through where they are harmless', () => {
    const wrong = readCorpus(UNTOUCHED.benign).filter((sample) => scanSample(sample).length > 0)
    expect(wrong.map(({ line, text }) => `${line}: ${text}`)).toEqual([])
  })
})

describe('real definitions', () => {
  const data =
    process.env.TOOLWELL_BENCH_DATA ?? fileURLToPath(new URL('../../../../bench/data', import.meta.url))
  const folder = join(data, 'mcp-catalog')

  it.skipIf(!existsSync(folder))(
    'have no hard finding, and soft ones in at most one of a hundred',
    () => {
      const servers = readdirSync(folder)
        .filter((file) => file.endsWith('.json'))
        .map((file) => {
          const { instructions, result } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
          return { name: file.replace(/\.json$/, ''), instructions, tools: result.tools as unknown[] }
        })
      const reports = scanServers(servers)
      const tools = reports.flatMap((report) => report.tools)
      const hard = [...tools, ...reports].filter(({ findings }) => isHard(findings))
      expect(hard.flatMap(({ findings }) => findings)).toEqual([])
      expect(tools.filter(({ findings }) => findings.length > 0).length / tools.length).toBeLessThanOrEqual(
        0.01,
      )
    },
    600_000,
  )
})
