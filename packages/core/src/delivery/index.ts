/** The deliveries by name. */
import type { DeliveryName } from '../ledger-event.js'
import { append } from './append.js'
import { bridge } from './bridge.js'
import type { Delivery, Place } from './delivery.js'
import { eager } from './eager.js'
import { native } from './native.js'
import { stub } from './stub.js'

export const deliveries: Readonly<Record<DeliveryName, Delivery>> = { eager, append, bridge, native, stub }
export type { Delivery, Place }
