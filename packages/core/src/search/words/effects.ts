/** What an operation does to things: a request to list something is no request to delete it, whatever else the words of both share. */

import { effectSeed, hashTerm } from '../index/spelling.js'

/** Bits: one word may mean several. */
const [read, make, change, remove, run, send, several] = [1, 2, 4, 8, 16, 32, 64]

export const effects: readonly number[] = [read, make, change, remove, run, send, several]

/** The term of the index that tools with an effect hold beside their words. */
export function hashEffect(effect: number): number {
  return hashTerm(`effect ${effect}`, effectSeed)
}

/** Of a question: what is asked for is told, and nothing is changed. */
export const questionEffect = read

/** Of a request to read that speaks of several: a list of them rather than one. */
export const severalEffect = several

/** Words (stems) that mean too many things to say which: "make it louder", "define a table". */
export const vagueWords: ReadonlySet<string> = new Set(['make', 'defin'])

/** By the first word of an action group of `concepts.ts`. Groups that are not here say nothing of the effect. */
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

/** Further words that say what is done, and stand in no group, or in one that says less. */
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

/** A request that begins with one of these asks what is the case. */
export const questionWords: ReadonlySet<string> = new Set(
  `what which when where who whose why how is are was were does did has have any my our latest recent newest last current
  upcoming unread overdue pending active failed`.split(/\s+/),
)
