/**
 * Activated tools are declared at the end of the tools array. Models get native argument constraints; on wires that
 * render tools before messages, each activation re-reads the messages (accounting charges them).
 */
import type { Delivery } from './delivery.js'

export const append: Delivery = {
  name: 'append',
  metaTools: ['loader'],
  defines: 'array',
  answers: 'signature',
  stubs: false,
}
