/** Words of a query that mean something else together than one by one: "log in" loses its "in" to the stop words, and a bug report is no report. */

/** What is said, in all its forms, and the word that tools use for it; none for what says nothing. */
const idioms: Readonly<Record<string, readonly string[]>> = {
  '': ['right now', 'for now', 'at the moment', 'as soon as possible', 'asap'],
  issue: ['bug report', 'bug reports'],
  'create issue': ['open a bug report', 'file a bug report', 'file a bug', 'report a bug', 'open an issue'],
  'list calendar events': ['agenda', 'schedule', 'calendar'].flatMap((list) =>
    ['what is', "what's", 'whats'].map((what) => `${what} on my ${list}`),
  ),
  'create pull request': ['open a pull request', 'open a pr'],
  'pull request': ['pr', 'prs'],
  'direct message': ['dm', 'dms'],
  reply: ['write back', 'writing back'],
  restore: ['bring back', 'bringing back', 'put back', 'get back'],
  publish: ['go live', 'going live', 'push live', 'put live', 'put online'],
  reaction: ['thumbs up', 'thumbs down'],
  create: ['spin up', 'spinning up'],
  run: ['kick off', 'kicking off'],
  cancel: ['call off', 'calling off'],
  postpone: ['put off', 'push back'],
  start: ['start up', 'fire up', 'boot up'],
  read: ['catch up on', 'catch up'],
  fill: ['fill out', 'fill in', 'filling out', 'filling in'],
  size: ['take up the most space', 'take up space', 'taking up space'],
  login: [
    'log in',
    'logging in',
    'logged in',
    'log into',
    'logging into',
    'sign in',
    'signing in',
    'sign into',
  ],
  logout: ['log out', 'logging out', 'sign out', 'signing out'],
  register: ['sign up', 'signing up'],
  setup: ['set up', 'setting up'],
  lookup: ['look up', 'looking up'],
  enable: ['turn on', 'turning on', 'switch on'],
  disable: ['turn off', 'turning off', 'switch off'],
  delete: ['get rid of', 'getting rid of', 'throw away'],
  stop: ['shut down', 'shutting down'],
  clean: ['clean up', 'cleaning up'],
  backup: ['back up', 'backing up'],
  rollback: ['roll back', 'rolling back'],
  rollout: ['roll out', 'rolling out'],
  find: ['find out', 'finding out'],
  oncall: ['on call', 'on-call'],
  distance: ['how far'],
  train: ['fine tune', 'fine-tune', 'finetune'],
  whoami: ['who am i'],
  show: ['tell me'],
  time: ['tell the time'],
  compare: ['tell the difference'],
  'send message': ['tell the', 'tell my', 'tell our', 'tell everyone', 'tell everybody', 'let everyone know'],
  sms: ['text message', 'text messages', 'sms message', 'sms messages'],
  accept: ['say yes to', 'saying yes to'],
  decline: ['say no to', 'saying no to'],
  approve: ['sign off on', 'sign off'],
  'travel duration': [
    'drive time',
    'driving time',
    'how long to drive',
    'how long is the drive',
    'how long does it take to drive',
    'how long is the trip',
  ],
  'flow diagram': ['flowchart', 'flowcharts', 'flow chart', 'flow charts'],
  task: ['to-do', 'to-dos', 'to do list', 'todo list'],
}

const meanings = new Map(
  Object.entries(idioms).flatMap(([word, said]) => said.map((each) => [each, word] as const)),
)
const said = new RegExp(
  `\\b(?:${[...meanings.keys()].sort((a, b) => b.length - a.length).join('|')})\\b`,
  'gi',
)

/** The query with the word for each idiom. Linear in its length. */
export function resolveIdioms(query: string): string {
  return query.replace(said, (phrase) => meanings.get(phrase.toLowerCase()) ?? phrase)
}
