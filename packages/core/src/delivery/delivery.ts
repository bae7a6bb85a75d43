/** How an active tool reaches the model. One file per way; this is what they have in common. */
import type { DeliveryName } from '../ledger-event.js'

export interface Delivery {
  readonly name: DeliveryName
  /** Which meta-tools the request declares. */
  readonly metaTools: readonly ('loader' | 'bridge')[]
  /** Active tools stand in the tools array, after everything that was there before. */
  readonly declares: boolean
  /** What a search answer says of a found tool: everything, or what the next request will not say anyway. */
  readonly answers: 'schema' | 'signature'
}
