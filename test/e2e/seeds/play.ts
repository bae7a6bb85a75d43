/**
 * The table: every scenario for every seed on every wire, in the long tier. In `npm test` each scenario is played for two seeds, on one wire each; the first one for
 * all seeds.
 */
import { afterAll, describe, expect, it } from 'vitest'
import type { WireName } from '../../../examples/agent/wires.ts'
import { isLong, someOf } from '../../setup/tier.ts'
import { closeShared, createWorld, WIRES, type World } from './driver.ts'
import { guardPrograms } from './process.ts'
import { SCENARIOS } from './scenarios.ts'
import { SEEDS } from './seed.ts'

type SeedName = keyof typeof SEEDS
const NAMES = Object.keys(SEEDS) as SeedName[]

/** Whether a seed plays a row in `npm test`. */
const isDue = (row: number, place: number) =>
  row === 0 || [row, row + 2].some((turn) => turn % NAMES.length === place)

/** For a test file of one seed. */
export function playSeed(name: SeedName): void {
  if (isLong) guardPrograms()
  afterAll(closeShared)
  const place = NAMES.indexOf(name)
  const rows = SCENARIOS.filter(({ long = false }, row) => isLong || (!long && isDue(row, place)))
  const played = rows.flatMap((scenario, row) =>
    someOf(WIRES, place + row).map((wire) => ({ ...scenario, wire })),
  )
  describe.each(played)('$wire', ({ title, wire, servers, play }) => {
    it(title, () => inWorld(name, wire, play, servers))
  })
}

/** Plays in a world of its own, in which no server refuses anything and nothing of the script is left. */
export async function inWorld(
  name: SeedName,
  wire: WireName,
  play: (world: World) => Promise<void>,
  servers?: readonly string[],
): Promise<void> {
  const world = await createWorld(SEEDS[name], wire, servers)
  try {
    await play(world)
    expect(world.faults()).toEqual([])
  } finally {
    await world.close()
  }
}
