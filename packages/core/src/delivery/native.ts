/**
 * The provider's own way: a search answer refers to a tool, and the provider puts the definition there. Tools are called
 * by their names with the provider's argument constraints, and no activation touches a byte before the last message.
 */
import type { Delivery } from './delivery.js'

export const native: Delivery = {
  name: 'native',
  metaTools: ['loader'],
  defines: 'aside',
  answers: 'reference',
  stubs: false,
}
