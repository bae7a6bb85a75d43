/**
 * Every hidden tool is declared from the start by its name and one line, with an open schema: any wire, names that can
 * be called, an array that never changes. Schemas arrive in search answers, or when a call does not fit.
 */
import type { Delivery } from './delivery.js'

export const stub: Delivery = {
  name: 'stub',
  metaTools: ['loader'],
  defines: 'text',
  answers: 'schema',
  stubs: true,
}
