/** What a search found and did, as data. Rendering it for the model comes after. */

import type { DropReason } from '../tool/notice.js'
import type { JsonSchema, Risk } from '../tool/tool.js'
import type { WireTool } from '../tool/wire-tool.js'

export interface Match {
  /** The wire name, or the deprecated name that was asked for. */
  readonly name: string
  /** The wire name of the tool that will run. */
  readonly canonicalName: string
  readonly status: 'loaded' | 'available_lazy' | 'deprecated_alias'
  /** Loaded by this very search. */
  readonly fresh: boolean
  /** Called through the bridge; otherwise by its own name. */
  readonly bridged: boolean
  readonly title: string
  readonly description: string
  readonly domain: string
  readonly aliases: readonly string[]
  readonly risk?: Risk
  /** The whole input schema, as it is sent, or absent: never a part of it. */
  readonly schemaPreview?: JsonSchema
  /** With the schema, what goes with it where it is declared. */
  readonly strict?: boolean
  readonly inputExamples?: WireTool['inputExamples'] & {}
  /** With the schema, the source it is of; absent for the host's own. */
  readonly source?: string
  readonly signature: string
  /** Names this definition for this principal. The bridge refuses a call with a token that is out of date. */
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
  /** What a source lists and cannot be used, with the reason, quoted. */
  readonly skipped: readonly { readonly name: string; readonly problem: string }[]
  /** Where nothing clearly fits: how many quarantined tools might have, by source. Nothing else is said of them. */
  readonly quarantined: readonly { readonly source: string; readonly count: number }[]
  /** Nothing clearly does what was asked for; the matches are only the nearest, three at most. */
  readonly unclear: boolean
  /** Tools that fit as well and are not shown: the limit was reached. */
  readonly more: number
  readonly evicted: readonly string[]
  readonly unloaded: readonly string[]
  /** Where nothing fits: what there is, by server. */
  readonly overview: readonly { readonly name: string; readonly count: number }[]
  /** What of the query could not be read as meant. */
  readonly problems: readonly string[]
  /** The same search missed at least twice before. */
  readonly repeated: boolean
}
