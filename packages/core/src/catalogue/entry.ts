/** A tool with its place in the catalogue. */
import { fingerprintOf } from '../tool/fingerprint.js'
import type { Tool } from '../tool/tool.js'

export interface Entry {
  readonly id: string
  readonly wireName: string
  readonly source: string
  readonly tool: Tool
  readonly quarantined: boolean
  /** Computed on first use: most tools of a large catalogue are never pinned. */
  readonly fingerprint: string
}

/** A class, so that thousands of entries are objects of one kind. */
class CatalogueEntry implements Entry {
  #fingerprint: string | undefined

  constructor(
    readonly id: string,
    readonly wireName: string,
    readonly source: string,
    readonly tool: Tool,
    readonly quarantined: boolean,
  ) {}

  get fingerprint(): string {
    this.#fingerprint ??= fingerprintOf(this.tool)
    return this.#fingerprint
  }
}

export function createEntry(
  id: string,
  wireName: string,
  source: string,
  tool: Tool,
  quarantined: boolean,
): Entry {
  return new CatalogueEntry(id, wireName, source, tool, quarantined)
}
