/**
 * The tools array never changes: schemas arrive in search answers, calls go through one wrapper that checks the
 * arguments. No activation touches a byte before the last message.
 */
import type { Delivery } from './delivery.js'

export const bridge: Delivery = {
  name: 'bridge',
  metaTools: ['loader', 'bridge'],
  defines: 'text',
  answers: 'schema',
  stubs: false,
}
