/**
 * Snapshots hold what events add up to. Who changes what fixed logs add up to, or how that is written, raises `FOLD_VERSION`: snapshots that
 * stand on disks would be believed otherwise. `UPDATE_GOLDEN=1` adds the digest of a new version, and changes none that is there.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { LedgerEvent } from '@toolwell/core'
import { expect, it } from 'vitest'
import { shortHash } from '../src/base/hash.js'
import { sumUp } from '../src/ledger/open-ledger.js'
import { FOLD_VERSION, readSnapshot, writeSnapshot } from '../src/ledger/snapshot.js'

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/golden/${name}.json`, import.meta.url))
const logs: readonly (readonly LedgerEvent[])[] = JSON.parse(readFileSync(fixture('fold-logs'), 'utf8'))
const digests: Record<string, string> = JSON.parse(readFileSync(fixture('fold-digests'), 'utf8'))

const KINDS: Readonly<Record<LedgerEvent['kind'], true>> = {
  frozen: true,
  returned: true,
  forked: true,
  inherited: true,
  searched: true,
  loaded: true,
  unloaded: true,
  suspended: true,
  restored: true,
  redefined: true,
  'call-started': true,
  'call-succeeded': true,
  'call-failed': true,
  announced: true,
  'thinking-stripped': true,
  requested: true,
  measured: true,
  compacted: true,
  cleared: true,
  downgraded: true,
}

/** After each event, as a snapshot has it. */
const written = logs.flatMap((events) =>
  events.map((last, index) => writeSnapshot(sumUp('thread', events.slice(0, index + 1)), last)),
)

it('the fixed logs hold every kind of event', () => {
  expect([...new Set(logs.flat().map(({ kind }) => kind))].sort()).toEqual(Object.keys(KINDS).sort())
})

it('the fixed logs add up to what they did when FOLD_VERSION was last raised', () => {
  const digest = shortHash(written.join('\n'), 64)
  if (process.env.UPDATE_GOLDEN === '1' && digests[FOLD_VERSION] === undefined)
    writeFileSync(
      fixture('fold-digests'),
      `${JSON.stringify({ ...digests, [FOLD_VERSION]: digest }, null, 2)}\n`,
    )
  const known = JSON.parse(readFileSync(fixture('fold-digests'), 'utf8'))[FOLD_VERSION]
  expect(
    digest,
    'The same events add up to another state, or it is written in another way. Raise FOLD_VERSION in ledger/snapshot.ts, and run this test with UPDATE_GOLDEN=1.',
  ).toBe(known)
})

it('each of these snapshots is read back as what was written', () => {
  const lasts = logs.flat()
  for (const [index, text] of written.entries()) {
    const last = lasts[index] as LedgerEvent
    const sum = readSnapshot(text, last)
    expect(sum && writeSnapshot(sum, last)).toBe(text)
  }
})
