/** Everything is sent, always: what remains when the loader may not be used. Late arrivals join at the end. */
import type { Delivery } from './delivery.js'

export const eager: Delivery = {
  name: 'eager',
  metaTools: [],
  defines: 'array',
  answers: 'signature',
  stubs: false,
}
