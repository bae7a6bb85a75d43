/** The deliveries by name. */
import type { DeliveryName } from '../ledger-event.js'
import { append } from './append.js'
import { bridge } from './bridge.js'
import type { Delivery } from './delivery.js'
import { eager } from './eager.js'

export const deliveries: Readonly<Record<DeliveryName, Delivery>> = { eager, append, bridge }
export type { Delivery }
