/** Whether the names in options are those of tools: asked once, as soon as no source is awaited, which may bring what is named. */
import { lazily } from '../base/lazily.js'
import type { Catalogue } from './catalogue.js'
import type { ExposureOptions } from './exposure.js'
import type { Unmatched } from './unmatched.js'

const namesInOptions = lazily(() => import('./unmatched.js'))

export interface NameCheck {
  /** Those that no tool has, once that was found out. */
  readonly unmatched: readonly Unmatched[]
  check(): Promise<void>
}

export function createNameCheck(
  catalogue: Catalogue,
  options: ExposureOptions,
  tell: (found: Unmatched) => void,
): NameCheck {
  const found: Unmatched[] = []
  let isDone = options.eager.length + options.rules.length === 0
  return {
    unmatched: found,
    async check() {
      if (isDone || [...catalogue.sources.values()].some(({ state }) => state === 'connecting')) return
      isDone = true
      const { unmatched } = await namesInOptions()
      found.push(...unmatched(catalogue, options))
      for (const each of found) tell(each)
    },
  }
}
