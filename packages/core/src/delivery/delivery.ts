/** How an active tool reaches the model. One file per way; this is what they have in common. */
import type { DeliveryName } from '../ledger-event.js'

/**
 * Where the definition of a raised tool stands: in the tools array, after everything that was there before; `aside`,
 * declared but out of the model's sight until the history refers to it; or as text in the history alone.
 */
export type Place = 'array' | 'aside' | 'text'

export interface Delivery {
  readonly name: DeliveryName
  /** Which meta-tools the request declares. */
  readonly metaTools: readonly ('loader' | 'bridge')[]
  /** Where the definition of a tool goes that is raised between two latches. */
  readonly defines: Place
  /** What a search answer says of a found tool: everything, a reference, or what the next request will not say anyway. */
  readonly answers: 'schema' | 'reference' | 'signature'
  /** Hidden tools are declared too, each by its name and one line. */
  readonly stubs: boolean
}
