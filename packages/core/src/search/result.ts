/** The result of a search as data, before it is rendered for the model. */

import type { DropReason } from '../tool/notice.js'
import type { JsonSchema, Risk } from '../tool/tool.js'
import type { WireTool } from '../tool/wire-tool.js'

export interface Match {
  /** The wire name, or the deprecated name that was requested. */
  readonly name: string
  /** The wire name of the tool that will run. */
  readonly canonicalName: string
  readonly status: 'loaded' | 'available_lazy' | 'deprecated_alias'
  /** Loaded by this search. */
  readonly fresh: boolean
  /** Called through the bridge instead of by its own name. */
  readonly bridged: boolean
  readonly title: string
  readonly description: string
  readonly domain: string
  readonly aliases: readonly string[]
  readonly risk?: Risk
  /** The whole input schema as sent, or absent. Never a part of it. */
  readonly schemaPreview?: JsonSchema
  /** Sent with the schema if the tool declares them. */
  readonly strict?: boolean
  readonly inputExamples?: WireTool['inputExamples'] & {}
  readonly callers?: WireTool['callers'] & {}
  /** Source of the schema; absent for the host's own tools. */
  readonly source?: string
  readonly signature: string
  /** Identifies this definition for this principal. The bridge refuses a call with an outdated token. */
  readonly loadToken: string
}

export interface SearchResult {
  readonly query: string
  readonly loadedBefore: readonly string[]
  readonly matches: readonly Match[]
  readonly loadedAfter: readonly string[]
  readonly nextInstruction: string
  readonly dropped: readonly { readonly name: string; readonly reason: DropReason; readonly tokens: number }[]
  readonly notFound: readonly { readonly name: string; readonly nearest: readonly string[] }[]
  readonly ambiguous: readonly { readonly name: string; readonly candidates: readonly string[] }[]
  readonly unavailable: readonly { readonly name: string; readonly state: string }[]
  /** Tools that a source lists but that cannot be used, with the reason, quoted. */
  readonly skipped: readonly { readonly name: string; readonly problem: string }[]
  /** If nothing clearly fits: number of quarantined tools that might, by source. Nothing else about them is shown. */
  readonly quarantined: readonly { readonly source: string; readonly count: number }[]
  /** Nothing clearly does what the query asks for. The matches are the nearest tools, at most three. */
  readonly unclear: boolean
  /** Number of tools that fit as well but exceed the limit. */
  readonly more: number
  /** Names of further candidates, in the order of the ranking. `bridged`: the model can call it through the bridge at once. */
  readonly others: readonly { readonly name: string; readonly bridged: boolean }[]
  /** Number of tools that were searched. */
  readonly searched: number
  readonly evicted: readonly string[]
  readonly unloaded: readonly string[]
  /** If nothing fits: number of available tools by server. */
  readonly overview: readonly { readonly name: string; readonly count: number }[]
  /** If nothing clearly fits: the language of most tool descriptions. Undefined if they have several. */
  readonly language: string | undefined
  /** Parts of the query that could not be read. */
  readonly problems: readonly string[]
  /** The same search found nothing at least twice before. */
  readonly repeated: boolean
}
