/** Defines what an operation does to things: "list" and "delete" are different requests, whatever other words they share. */

import { effectSeed, hashTerm } from '../index/spelling.js'

/** Bits, because one word may have several effects. */
const [read, make, change, remove, run, send, several] = [1, 2, 4, 8, 16, 32, 64]

export const effects: readonly number[] = [read, make, change, remove, run, send, several]

/** The index term of tools with an effect. */
export function hashEffect(effect: number): number {
  return hashTerm(`effect ${effect}`, effectSeed)
}

/** Effect of a question: it asks for information and changes nothing. */
export const questionEffect = read

/** Set if a request to read mentions several things: it asks for a list. */
export const severalEffect = several

/** Words (stems) with too many meanings: "make it louder", "define a table". */
export const vagueWords: ReadonlySet<string> = new Set(['make', 'defin'])

/** By the first word of an action group in `concepts.ts`. Other groups have no known effect. */
export const groupEffects: Readonly<Record<string, number>> = {
  get: read,
  list: read | several,
  search: read | several,
  download: read,
  compare: read,
  analyze: read,
  summarize: read,
  recommend: read,
  explain: read,
  track: read,
  extract: read,
  scan: read,
  validate: read | run,
  create: make,
  generate: make,
  upload: make,
  schedule: make,
  book: make,
  buy: make,
  copy: make,
  subscribe: make,
  remind: make,
  invite: make | send,
  send: make | send,
  reply: make | send,
  save: make | change,
  append: make,
  connect: make | change,
  restore: make | change,
  install: make | run,
  deploy: make | run,
  update: change,
  move: change,
  merge: change,
  split: change,
  approve: change,
  enable: change,
  disable: change,
  undo: change,
  reject: change | remove,
  type: change | run,
  restart: change | run,
  stop: remove | run,
  delete: remove,
  navigate: read | run,
  run,
  click: run,
}

/** More verbs that are in no group, or in a group with fewer effects. */
const verbs: readonly (readonly [effect: number, words: string])[] = [
  [read, 'catch count grab inspect measure monitor open peek pull skim watch'],
  [make, 'announce attach comment draft draw log open plot put raise record sketch'],
  [make | send, 'announce inform message notify ping tell warn'],
  [
    change,
    `archive assign attach block close complete convert drag finish fix grant label link lock log mark mute organize pause pin
    postpone put reassign rebase reopen reorder reschedule resize resolve resume revoke rotate scale share silence snooze
    star swap tag transfer tweak unarchive unassign unblock unlink unlock unmute unpin unpublish upgrade`,
  ],
  [remove, 'archive revoke unassign unlink unpin unpublish unsubscribe'],
  [
    run,
    'build compile drag fill hover kick pause press rerun resume retry scroll simulate swipe sync tap test',
  ],
]

export const verbEffects: ReadonlyMap<string, number> = verbs.reduce((known, [effect, words]) => {
  for (const word of words.split(/\s+/)) known.set(word, (known.get(word) ?? 0) | effect)
  return known
}, new Map<string, number>())

/** A request that starts with one of these words is a question. */
export const questionWords: ReadonlySet<string> = new Set(
  `what which when where who whose why how is are was were does did has have any my our latest recent newest last current
  upcoming unread overdue pending active failed`.split(/\s+/),
)
