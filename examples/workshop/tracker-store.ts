/** Issues of the tracker server: one JSON file each below `.tracker/issues`, milestones in one file. */
import { clock } from './clock.ts'
import {
  flagIn,
  type Input,
  numberIn,
  objectIn,
  objectsIn,
  optionalNumber,
  optionalText,
  textIn,
  textsIn,
} from './input.ts'
import type { Store } from './store.ts'

interface Comment {
  id: number
  author: string
  body: string
  visibility: string
  reply_to?: number | undefined
  created_at: string
}

interface Issue {
  number: number
  title: string
  body: string
  kind: string
  priority: string
  state: 'open' | 'closed'
  resolution?: string | undefined
  labels: string[]
  assignees: string[]
  milestone?: string | undefined
  estimate?: number | undefined
  due_date?: string | undefined
  environment?: Input | undefined
  reporter?: Input | undefined
  attachments: Input[]
  checklist: { text: string; done: boolean }[]
  links: { number: number; relation: string }[]
  comments: Comment[]
  created_at: string
}

interface Milestone {
  name: string
  description: string
  start_date?: string | undefined
  due_date: string
  goals: string[]
}

const inverses: Readonly<Record<string, string>> = {
  blocks: 'blocked_by',
  blocked_by: 'blocks',
  duplicates: 'duplicated_by',
  duplicated_by: 'duplicates',
  parent_of: 'child_of',
  child_of: 'parent_of',
  relates_to: 'relates_to',
}
const priorities = ['urgent', 'high', 'normal', 'low']

export function createTracker(store: Store) {
  const fileOf = (number: number) => `.tracker/issues/${number}.json`
  const save = (issue: Issue) => store.writeJson(fileOf(issue.number), issue)
  const milestones = () => store.readJson<Milestone[]>('.tracker/milestones.json', [])

  async function load(number: number): Promise<Issue> {
    const issue = await store.readJson<Issue | undefined>(fileOf(number), undefined)
    if (!issue)
      throw new Error(`There is no issue ${number}. Find its number with list_issues or search_issues.`)
    return issue
  }

  async function all(): Promise<Issue[]> {
    const files = await store.listFiles('.tracker/issues')
    const issues = await Promise.all(files.map((file) => load(Number.parseInt(file, 10))))
    return issues.sort((a, b) => a.number - b.number)
  }

  async function requireMilestone(name: string | undefined): Promise<string | undefined> {
    const known = (await milestones()).map((milestone) => milestone.name)
    if (name === undefined || name === '' || known.includes(name)) return name || undefined
    throw new Error(
      `There is no milestone "${name}". Use create_milestone, or one of: ${known.join(', ') || 'none'}.`,
    )
  }

  async function link(from: number, to: number, relation: string): Promise<void> {
    if (from === to) throw new Error('An issue cannot be linked to itself. Give two different numbers.')
    const [left, right] = [await load(from), await load(to)]
    const add = (issue: Issue, number: number, name: string) =>
      save({
        ...issue,
        links: [
          ...issue.links.filter((old) => old.number !== number || old.relation !== name),
          { number, relation: name },
        ],
      })
    await add(left, to, relation)
    await add(right, from, inverses[relation] ?? 'relates_to')
  }

  async function comment(
    number: number,
    author: string,
    body: string,
    more: Partial<Comment> = {},
  ): Promise<Comment> {
    const issue = await load(number)
    if (more.reply_to !== undefined && !issue.comments.some((old) => old.id === more.reply_to))
      throw new Error(`Issue ${number} has no comment ${more.reply_to}. Read it with get_issue first.`)
    const id = issue.comments.length + 1
    const added = { id, author, body, visibility: 'everyone', created_at: clock.now(), ...more }
    await save({ ...issue, comments: [...issue.comments, added] })
    return added
  }

  async function change(issue: Issue, set: Input, input: Input): Promise<Issue> {
    const milestone = optionalText(set, 'milestone')
    const removed = textsIn(input, 'remove_labels')
    const changed: Issue = {
      ...issue,
      title: textIn(set, 'title', issue.title),
      body: textIn(set, 'body', issue.body),
      kind: textIn(set, 'kind', issue.kind),
      priority: textIn(set, 'priority', issue.priority),
      due_date: optionalText(set, 'due_date') ?? issue.due_date,
      estimate: optionalNumber(set, 'estimate') ?? issue.estimate,
      milestone: milestone === undefined ? issue.milestone : await requireMilestone(milestone),
      assignees: 'assignees' in set ? textsIn(set, 'assignees') : issue.assignees,
      labels: unique([...issue.labels, ...textsIn(input, 'add_labels')]).filter(
        (label) => !removed.includes(label),
      ),
      checklist: issue.checklist.map((item, index) => {
        const tick = objectsIn(input, 'checklist').find((entry) => numberIn(entry, 'position') === index + 1)
        return tick ? { ...item, done: flagIn(tick, 'done', true) } : item
      }),
    }
    return textIn(set, 'state', issue.state) === 'open'
      ? { ...changed, state: 'open', resolution: undefined }
      : changed
  }

  return {
    async createIssue(input: Input) {
      const number = ((await all()).at(-1)?.number ?? 0) + 1
      const links = objectsIn(input, 'links')
      for (const target of links) await load(numberIn(target, 'number'))
      const attachments = objectsIn(input, 'attachments')
      for (const attachment of attachments) await store.readBytes(textIn(attachment, 'path'))
      await save({
        number,
        title: textIn(input, 'title'),
        body: textIn(input, 'body', ''),
        kind: textIn(input, 'kind', 'task'),
        priority: textIn(input, 'priority', 'normal'),
        state: 'open',
        labels: unique(textsIn(input, 'labels')),
        assignees: unique(textsIn(input, 'assignees')),
        milestone: await requireMilestone(optionalText(input, 'milestone')),
        estimate: optionalNumber(input, 'estimate'),
        due_date: optionalText(input, 'due_date'),
        environment: 'environment' in input ? objectIn(input, 'environment') : undefined,
        reporter: 'reporter' in input ? objectIn(input, 'reporter') : undefined,
        attachments,
        checklist: objectsIn(input, 'checklist').map((item) => ({
          text: textIn(item, 'text'),
          done: flagIn(item, 'done', false),
        })),
        links: [],
        comments: [],
        created_at: clock.now(),
      })
      for (const target of links)
        await link(number, numberIn(target, 'number'), textIn(target, 'relation', 'relates_to'))
      return load(number)
    },

    async getIssue(input: Input) {
      const { comments, links, checklist, ...issue } = await load(numberIn(input, 'number'))
      const include = 'include' in input ? textsIn(input, 'include') : ['comments', 'links', 'checklist']
      const visible = comments.filter(
        (entry) => entry.visibility === 'everyone' || flagIn(input, 'internal_comments', false),
      )
      return {
        ...issue,
        ...(include.includes('comments')
          ? { comments: visible.slice(-numberIn(input, 'comment_limit', 20)) }
          : {}),
        ...(include.includes('links') ? { links } : {}),
        ...(include.includes('checklist') ? { checklist } : {}),
      }
    },

    async listIssues(input: Input) {
      const found = (await all()).filter((issue) => matches(issue, input))
      const sort = textIn(input, 'sort', 'number')
      found.sort((a, b) => {
        if (sort === 'priority') return priorities.indexOf(a.priority) - priorities.indexOf(b.priority)
        if (sort === 'due_date') return (a.due_date ?? '9999').localeCompare(b.due_date ?? '9999')
        return a.number - b.number
      })
      if (textIn(input, 'direction', 'ascending') === 'descending') found.reverse()
      const size = numberIn(input, 'page_size', 25)
      const page = numberIn(input, 'page', 1)
      return { total: found.length, page, issues: found.slice((page - 1) * size, page * size).map(summaryOf) }
    },

    async searchIssues(input: Input) {
      const words = textIn(input, 'query').toLowerCase().split(/\s+/).filter(Boolean)
      const fields = 'fields' in input ? textsIn(input, 'fields') : ['title', 'body', 'comments']
      const every = textIn(input, 'match', 'all') === 'all'
      const scored = (await all())
        .filter((issue) =>
          matches(issue, { state: textIn(input, 'state', 'any'), labels: textsIn(input, 'labels') }),
        )
        .map((issue) => {
          const parts: Record<string, string> = {
            title: `${issue.title} ${issue.title}`,
            body: issue.body,
            comments: issue.comments.map((entry) => entry.body).join(' '),
            labels: issue.labels.join(' '),
          }
          const haystack = fields
            .map((field) => parts[field] ?? '')
            .join(' ')
            .toLowerCase()
          const counts = words.map((word) => haystack.split(word).length - 1)
          const fits = every ? counts.every((count) => count > 0) : counts.some((count) => count > 0)
          return { score: fits ? counts.reduce((sum, count) => sum + count, 0) : 0, issue: summaryOf(issue) }
        })
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score)
      return { total: scored.length, results: scored.slice(0, numberIn(input, 'limit', 10)) }
    },

    async updateIssue(input: Input) {
      const changed = await change(await load(numberIn(input, 'number')), objectIn(input, 'set'), input)
      await save(changed)
      const note = optionalText(input, 'note')
      if (note !== undefined) await comment(changed.number, 'tracker', note)
      return load(changed.number)
    },

    async closeIssue(input: Input) {
      const issue = await load(numberIn(input, 'number'))
      const resolution = textIn(input, 'resolution')
      const original = optionalNumber(input, 'duplicate_of')
      if (resolution === 'duplicate' && original === undefined)
        throw new Error('Resolution "duplicate" needs duplicate_of: the number of the issue that stays open.')
      const open = issue.checklist.filter((item) => !item.done).length
      if (resolution === 'done' && open > 0 && !flagIn(input, 'ignore_checklist', false))
        throw new Error(
          `Issue ${issue.number} has ${open} open checklist items. Tick them or set ignore_checklist.`,
        )
      await save({ ...issue, state: 'closed', resolution })
      if (original !== undefined) await link(issue.number, original, 'duplicates')
      const reason = optionalText(input, 'comment')
      if (reason !== undefined) await comment(issue.number, 'tracker', reason)
      return summaryOf(await load(issue.number))
    },

    commentOnIssue: (input: Input) =>
      comment(numberIn(input, 'number'), textIn(input, 'author', 'assistant'), textIn(input, 'body'), {
        visibility: textIn(input, 'visibility', 'everyone'),
        reply_to: optionalNumber(input, 'reply_to'),
      }),

    async linkIssues(input: Input) {
      const [from, relation] = [numberIn(input, 'from'), textIn(input, 'relation')]
      const targets = input.to
      const numbers = Array.isArray(targets) ? targets.filter((entry) => typeof entry === 'number') : []
      for (const to of numbers) await load(to)
      for (const to of numbers) await link(from, to, relation)
      return { number: from, links: (await load(from)).links }
    },

    async createMilestone(input: Input) {
      const existing = await milestones()
      const name = textIn(input, 'name')
      if (existing.some((milestone) => milestone.name === name))
        throw new Error(`Milestone "${name}" exists. Pick another name, or use it as it is.`)
      const milestone: Milestone = {
        name,
        description: textIn(input, 'description', ''),
        start_date: optionalText(input, 'start_date'),
        due_date: textIn(input, 'due_date'),
        goals: textsIn(input, 'goals'),
      }
      const adopt = Array.isArray(input.adopt_issues) ? input.adopt_issues : []
      const adopted = await Promise.all(adopt.filter((entry) => typeof entry === 'number').map(load))
      await store.writeJson('.tracker/milestones.json', [...existing, milestone])
      for (const issue of adopted) await save({ ...issue, milestone: name })
      return { ...milestone, issues: adopted.map((issue) => issue.number) }
    },

    async milestoneProgress(input: Input) {
      const name = textIn(input, 'name')
      await requireMilestone(name)
      const issues = (await all()).filter((issue) => issue.milestone === name)
      const byEstimate = textIn(input, 'weigh_by', 'count') === 'estimate'
      const weigh = (some: Issue[]) =>
        some.reduce((sum, issue) => sum + (byEstimate ? (issue.estimate ?? 0) : 1), 0)
      const closed = weigh(issues.filter((issue) => issue.state === 'closed'))
      const total = weigh(issues)
      const milestone = (await milestones()).find((entry) => entry.name === name)
      const asOf = textIn(input, 'as_of', clock.today())
      return {
        milestone: name,
        total,
        closed,
        percent: total === 0 ? 0 : Math.round((closed / total) * 100),
        overdue: milestone !== undefined && milestone.due_date < asOf && closed < total,
        ...(flagIn(input, 'include_issues', false) ? { issues: issues.map(summaryOf) } : {}),
      }
    },

    async triageIssues(input: Input) {
      const selected = (await all()).filter((issue) => matches(issue, objectIn(input, 'filter')))
      const limit = numberIn(input, 'expected_at_most', 50)
      if (selected.length > limit)
        throw new Error(
          `${selected.length} issues match, more than ${limit}. Narrow the filter or raise expected_at_most.`,
        )
      const changes = objectIn(input, 'changes')
      const changed = await Promise.all(selected.map((issue) => change(issue, changes, changes)))
      const dryRun = flagIn(input, 'dry_run', true)
      if (!dryRun) for (const issue of changed) await save(issue)
      return { written: !dryRun, issues: changed.map(summaryOf) }
    },
  }
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}

function summaryOf({
  number,
  title,
  state,
  resolution,
  kind,
  priority,
  labels,
  assignees,
  milestone,
  due_date,
}: Issue) {
  return { number, title, state, resolution, kind, priority, labels, assignees, milestone, due_date }
}

/** Absent conditions let everything pass, except `state`, which means open issues by default. */
function matches(issue: Issue, filter: Input): boolean {
  const state = textIn(filter, 'state', 'open')
  const labels = textsIn(filter, 'labels')
  const hits = labels.filter((label) => issue.labels.includes(label)).length
  const enough = textIn(filter, 'label_match', 'all') === 'all' ? hits === labels.length : hits > 0
  const oneOf = (name: string, value: string) =>
    textsIn(filter, name).length === 0 || textsIn(filter, name).includes(value)
  const assignee = optionalText(filter, 'assignee')
  const milestone = optionalText(filter, 'milestone')
  const dueBefore = optionalText(filter, 'due_before')
  return (
    (state === 'any' || issue.state === state) &&
    (labels.length === 0 || enough) &&
    oneOf('kinds', issue.kind) &&
    oneOf('priorities', issue.priority) &&
    (assignee === undefined ||
      (assignee === 'none' ? issue.assignees.length === 0 : issue.assignees.includes(assignee))) &&
    (milestone === undefined ||
      (milestone === 'none' ? issue.milestone === undefined : issue.milestone === milestone)) &&
    (dueBefore === undefined || (issue.due_date !== undefined && issue.due_date < dueBefore))
  )
}
