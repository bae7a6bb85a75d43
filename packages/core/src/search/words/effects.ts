/** What an operation does to things: a request to list something is no request to delete it, whatever else the words of both share. */

import { effectSeed, hashOf } from '../index/hash.js'

/** Bits: one word may mean several. */
const [read, make, change, remove, run, send] = [1, 2, 4, 8, 16, 32]

export const effects: readonly number[] = [read, make, change, remove, run, send]

/** The term of the index that tools with an effect hold beside their words. */
export function effectTerm(effect: number): number {
  return hashOf(`effect ${effect}`, effectSeed)
}

/** Of a question: what is asked for is told, and nothing is changed. */
export const questionEffect = read

/** Words (stems) that mean too many things to say which: "make it louder", "define a table". */
export const vague: ReadonlySet<string> = new Set(['make', 'defin'])

/** By the first word of an action group of `concepts.ts`. Groups that are not here say nothing of the effect. */
export const effectOfGroup: Readonly<Record<string, number>> = {
  get: read,
  list: read,
  search: read,
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
  stop: change | remove | run,
  delete: remove,
  navigate: read | run,
  run,
  click: run,
}
