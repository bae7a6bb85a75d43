/** 95 % intervals. */

export interface Interval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

const Z = 1.96

/** Wilson's interval of a share, which is right for few runs and near 0 and 1. */
export function shareInterval(successes: number, runs: number): Interval {
  if (runs === 0) return { mean: 0, low: 0, high: 1 }
  const share = successes / runs
  const scale = 1 + Z ** 2 / runs
  const centre = (share + Z ** 2 / (2 * runs)) / scale
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / runs + Z ** 2 / (4 * runs ** 2))
  return { mean: share, low: Math.max(0, centre - half), high: Math.min(1, centre + half) }
}

const RESAMPLES = 2000

/** Interval of a mean by resampling, with a fixed seed: the same runs give the same figures. */
export function meanInterval(values: readonly number[]): Interval {
  if (values.length === 0) return { mean: 0, low: 0, high: 0 }
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length
  const pick = () => values[Math.floor(random() * values.length)] ?? 0
  const means = Array.from({ length: RESAMPLES }, () => mean(values.map(pick))).sort((a, b) => a - b)
  const at = (share: number) => means[Math.floor(share * (RESAMPLES - 1))] ?? 0
  return { mean: mean(values), low: at(0.025), high: at(0.975) }
}
