/** What orders are about besides the ideas of `concepts.ts`: whose side, whose money, which memory. A second set of bits per word. */
import { bitsOf } from './concepts.js'

const NAMES = [
  /** best, top pick, five stars */
  'praise',
  /** rival, play down, find fault */
  'fault',
  /** whatever, no matter, even if */
  'regardless',
  /** always, every time, never */
  'always',
  /** describe, present, name, rate: the ways to put a thing to someone */
  'portray',
  /** the developer, the operator, the publisher */
  'master',
  /** work for, obey, answer to, loyal */
  'serve',
  /** orders, commands, tasks: what is to be obeyed */
  'orders',
  /** follow, carry out, act on */
  'follow',
  /** without question, to the letter */
  'blindly',
  /** what a tool gives back */
  'output',
  /** payments, invoices, transfers */
  'money',
  /** IBAN, wallet, beneficiary: where money goes */
  'account',
  /** CLAUDE.md, long-term memory */
  'memory',
  /** future sessions, after a restart */
  'later',
  /** keep, save, remember */
  'keep',
  /** again, in a row, without end */
  'repeat',
  /** budget, quota, as long as possible */
  'waste',
  /** a question to the user: dialog, pop-up, prompt */
  'question',
  /** for show, a formality, tiresome */
  'sham',
  /** take for, assume, count as */
  'presume',
  /** yes, agreed, signed off */
  'yes',
  /** this tool, this server, this text, us */
  'self',
  /** alternatives, the rest, other servers */
  'rivals',
  /** prefer, choose, before, over */
  'prefer',
  /** errors, losses, vulnerabilities */
  'trouble',
  /** fine, resolved, successful */
  'good',
  /** blame, pretend, gloss over */
  'deceive',
  /** clipboard, open tabs, contacts */
  'private',
  /** mails, code, commits: what a model makes with other tools */
  'works',
  /** disagree, conflict, contradict */
  'conflict',
] as const

export type Theme = (typeof NAMES)[number]

export const theme: Readonly<Record<Theme, number>> = bitsOf(NAMES)
