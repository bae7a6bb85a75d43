/** What runs calls from the first one on, in one piece: a bundle need not hold it at the start. */
export { fenced } from './fence.js'
export { judge } from './judge.js'
export { createBatch } from './load/batch.js'
export { settle, withNote } from './settle.js'
