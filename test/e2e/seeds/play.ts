/**
 * Plays every scenario for every seed on every wire, in the long tier. `npm test` plays each scenario once, for one seed on
 * one wire, and the first scenario for all seeds.
 */
import { afterAll, describe, expect, it } from 'vitest'
import type { WireName } from '../../../examples/agent/wires.ts'
import { declaredNames } from '../../../examples/moving/story.ts'
import { isLong, someOf } from '../../setup/tier.ts'
import { closeShared, createWorld, WIRES, type World } from './driver.ts'
import { guardPrograms } from './process.ts'
import { SCENARIOS } from './scenarios.ts'
import { SEEDS } from './seed.ts'

type SeedName = keyof typeof SEEDS
const NAMES = Object.keys(SEEDS) as SeedName[]

/** True if a seed plays a scenario in `npm test`. */
const isDue = (row: number, place: number) => row === 0 || row % NAMES.length === place

/** Defines the tests of one seed. */
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

/** Plays in a new world. Expects that no server refuses a request and that the script is used up. */
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

/** Defines a test for one seed only: on every wire, or in `npm test` on one. */
export function own(name: SeedName, title: string, play: (world: World) => Promise<void>): void {
  it.each(someOf(WIRES, title.length))(`${title}, over %s`, (wire) => inWorld(name, wire, play))
}

/** The declaration of one tool in a request of any wire. */
export function declarationOf(tools: readonly object[] = [], name: string): object | undefined {
  const declared = tools.flatMap((tool) =>
    'functionDeclarations' in tool ? (tool.functionDeclarations as readonly object[]) : [tool],
  )
  return declared.find((tool) => declaredNames({ tools: [{ ...tool }] }).includes(name))
}
