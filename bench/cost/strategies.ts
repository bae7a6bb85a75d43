/** What is compared. A delivery that the library learns needs one line here. */
import type { ToolwellOptions } from '@toolwell/core'
import type { Provider } from './providers.ts'

export interface Strategy {
  readonly name: string
  readonly about: string
  /** What a host on this provider gives to `createToolwell`. */
  options(provider: Provider): ToolwellOptions
}

/** The first is what the others are measured against. */
export const strategies: readonly Strategy[] = [
  { name: 'eager', about: 'every tool in every request', options: () => ({ mode: 'off' }) },
  {
    name: 'auto',
    about: 'decided before request 1 from what is known then, the prices among it',
    options: ({ prices }) => ({ mode: 'auto', delivery: 'auto', costs: { prices } }),
  },
  {
    name: 'frugal',
    about: 'auto, planned for the worst conversation',
    options: ({ prices }) => ({ mode: 'auto', costs: { plan: 'frugal', prices }, delivery: 'auto' }),
  },
  {
    name: 'native',
    about: "the provider's own deferral",
    options: () => ({ mode: 'on', delivery: 'native' }),
  },
  {
    name: 'bridge',
    about: 'the tools array never changes',
    options: () => ({ mode: 'on', delivery: 'bridge' }),
  },
  {
    name: 'append',
    about: 'found tools join the end of the array',
    options: () => ({ mode: 'on', delivery: 'append' }),
  },
]

/** Wires on which a strategy is another one in disguise, or refused, are left out of its column. */
export function isSupported(strategy: string, delivery: string): boolean {
  return strategy !== 'native' || delivery === 'native'
}
