/** What a host can watch: every ledger event as it is stored, and every notice. */
import type { Notice } from '../tool/notice.js'
import type { LedgerEvent } from './event.js'

/** `conversation` is empty where an event belongs to none. */
export type ToolwellEvent = (LedgerEvent | Notice) & { readonly conversation: string }
