/** Tools that a provider defines or runs. They come first in every request, unchanged, and Toolwell never runs their calls. */

import { isRecord, toPlainJson } from '../../base/data.js'
import { describeKind, invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import type { SurfaceView } from '../../surface/project.js'
import type { UnitCall } from './thread.js'

export interface ProviderTools<Native = unknown> {
  readonly tools: readonly Native[]
  readonly names: ReadonlySet<string>
  /** Whether a call belongs to one of these tools. `isOurs`: whether Toolwell knows a tool of this name. */
  owns(call: UnitCall, isOurs: (name: string) => boolean): boolean
}

/** How a wire declares such tools. */
export interface ProviderForm {
  /** Lists the names under which the model calls this tool. */
  names(tool: Readonly<Record<string, unknown>>): readonly unknown[]
  /** Whether the tool is a function of the host. */
  isFunction(tool: Readonly<Record<string, unknown>>): boolean
  owns?: ProviderTools['owns']
}

/** Returns undefined if there are none. */
export function readProviderTools<Native>(
  given: readonly Native[] | undefined,
  { names, isFunction, owns = () => false }: ProviderForm,
): ProviderTools<Native> | undefined {
  if (given === undefined) return undefined
  if (!Array.isArray(given))
    throw invalid('providerTools', `providerTools takes a list of tools, not ${describeKind(given)}.`)
  const found = given.flatMap((tool: unknown, index) => {
    if (!isRecord(tool))
      throw invalid(
        'providerTools',
        `Entry ${index} of providerTools is not a tool, but ${describeKind(tool)}.`,
      )
    if (isFunction(tool))
      throw invalid(
        'providerTools',
        `Entry ${index} of providerTools is your own function. Read it with importTools, and pass it to createToolwell.`,
      )
    return names(tool).filter((name) => typeof name === 'string')
  })
  const known = new Set(found)
  return {
    tools: toPlainJson(given),
    names: known,
    owns: (call, isOurs) => known.has(call.name) || owns(call, isOurs),
  }
}

/** Throws if a tool of the request has the name of a provider's tool: providers refuse two tools of one name. */
export function assertNoClash({ names }: ProviderTools, { tools, declaredHidden }: SurfaceView): void {
  const clash = [...tools, ...declaredHidden].find(({ name }) => names.has(name))
  if (clash)
    throw invalid(
      'providerTools',
      `providerTools and your own tools both have ${quote(clash.name)}. Rename your tool, or remove one of the two.`,
    )
}
