/** Tokens sent, compared with sending every definition. */
import type { SavingsAnswer, SavingsRow } from '@toolwell/gateway/api'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Chart } from './chart-box.js'
import { count, percent, short, visible } from './format.js'
import { revisions, session, useAnswer } from './gateway.js'
import { pathTo, place, setQuery } from './router.js'
import { type Column, Table } from './table.js'
import { Answer, Choices, Data, Empty, Page, ToolName } from './ui.js'

const DAY = 86_400_000
const PERIODS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const

type Sums = Omit<SavingsRow, 'start'>

const sentOf = ({ listTokens, answerTokens, roundTokens }: Omit<Sums, 'client'>) =>
  listTokens + answerTokens + roundTokens

export function Savings() {
  const period = place.value.query.get('days') ?? '30'
  const days = PERIODS.some(([key]) => key === period) ? Number(period) : 30
  const from = Math.floor(Date.now() / DAY) * DAY - (days - 1) * DAY
  const savings = useAnswer<SavingsAnswer>(
    `savings?from=${from}`,
    revisions.calls.value + revisions.searches.value,
  )
  return (
    <Page
      title="Savings"
      about="Estimated tokens, compared with sending every definition. Searches and their extra requests are included."
      aside={
        <Choices
          label="Period"
          value={String(days)}
          options={PERIODS}
          onChange={(value) => setQuery({ days: value === '30' ? undefined : value })}
        />
      }
    >
      <Answer from={savings}>{(answer) => <Report answer={answer} from={from} days={days} />}</Answer>
    </Page>
  )
}

function Report({ answer, from, days }: { answer: SavingsAnswer; from: number; days: number }) {
  const { total, now, definitions, responses } = answer
  const sent = sentOf(total)
  return (
    <>
      {total.lists === 0 ? (
        <Empty title="Nothing to compare yet">
          {now.all > 0
            ? `Each time a client lists its tools, it gets ${short(now.list)} tokens instead of ${short(now.all)}. Connect a client to ${session.value?.address} to see what you save.`
            : 'Add a server and connect a client. Then this page compares the tokens sent with those of every definition.'}
        </Empty>
      ) : (
        <>
          <div class="hero">
            <p class={total.saved < 0 ? 'bad' : ''} data-saved>
              <strong>{short(Math.abs(total.saved))}</strong> tokens{' '}
              {total.saved < 0 ? 'more than sending every tool' : 'saved'}
            </p>
            <p>
              <strong>{percent(Math.abs(total.saved), total.everything)}</strong>{' '}
              {total.saved < 0 ? 'more' : 'less'} than sending every tool
            </p>
            <p class="quiet">
              {short(sent)} sent instead of {short(total.everything)}: {short(total.listTokens)} in tool
              lists, {short(total.answerTokens)} in answers to {count(total.searches)} searches,{' '}
              {short(total.roundTokens)} in the extra requests of those searches.
            </p>
          </div>
          <Days answer={answer} from={from} days={days} />
          <Clients rows={answer.days} />
        </>
      )}
      <div class="two">
        <section aria-labelledby="responses">
          <h2 id="responses">Tools that returned the most tokens</h2>
          {responses.length === 0 ? (
            <Empty title="No results yet">
              The tools with the most result tokens are listed here. Each result stays in the conversation.
            </Empty>
          ) : (
            <Bars
              rows={responses.map(({ calls, tokens, largest, ...tool }) => ({
                ...tool,
                tokens,
                note: `${count(calls)} calls, at most ${short(largest)} tokens in one`,
              }))}
            />
          )}
        </section>
        <section aria-labelledby="definitions">
          <h2 id="definitions">Largest definitions</h2>
          {definitions.length === 0 ? (
            <Empty title="No tools yet">The tools with the longest definitions are listed here.</Empty>
          ) : (
            <Bars rows={definitions} />
          )}
        </section>
      </div>
    </>
  )
}

function Days({ answer, from, days }: { answer: SavingsAnswer; from: number; days: number }) {
  const times = Array.from({ length: days }, (_, index) => from + index * DAY)
  const sums = times.map((time) => addUp(answer.days.filter(({ start }) => start === time)))
  const isLoss = (row: Omit<Sums, 'client'>) => row.saved < 0
  const text = (index: number) => {
    const row = sums[index]
    if (!row || row.lists === 0) return 'no client listed tools'
    const change = `${short(Math.abs(row.saved))} ${isLoss(row) ? 'more' : 'saved'}`
    return `${short(sentOf(row))} sent instead of ${short(row.everything)}: ${change}`
  }
  return (
    <Chart
      label="Tokens sent each day, and the tokens of sending every tool"
      unit="day"
      times={times}
      series={[
        {
          label: 'sent, a loss',
          values: sums.map((row) => (isLoss(row) ? sentOf(row) : null)),
          color: '--bad-dot',
        },
        { label: 'sending every tool', values: sums.map((row) => row.everything), color: '--chart-2' },
        { label: 'sent', values: sums.map((row) => (isLoss(row) ? null : sentOf(row))), color: '--chart' },
      ]}
      describe={text}
    />
  )
}

function addUp(rows: readonly SavingsRow[]): Omit<Sums, 'client'> {
  const sum = (key: keyof Omit<Sums, 'client'>) => rows.reduce((total, row) => total + row[key], 0)
  return {
    lists: sum('lists'),
    everything: sum('everything'),
    listTokens: sum('listTokens'),
    searches: sum('searches'),
    answerTokens: sum('answerTokens'),
    roundTokens: sum('roundTokens'),
    saved: sum('saved'),
  }
}

interface Line extends Omit<Sums, 'client'> {
  readonly name: string
  readonly order: string | number
}

const tokenColumn = (
  key: string,
  title: string,
  about: string,
  value: (row: Line) => number,
): Column<Line> => ({
  key,
  title,
  about,
  width: 8,
  isNumber: true,
  cell: (row) => short(value(row)),
  sortBy: value,
})

const columns = (first: string): readonly Column<Line>[] => [
  { key: 'name', title: first, cell: ({ name }) => <Data text={name} />, sortBy: ({ order }) => order },
  {
    key: 'lists',
    title: 'Lists',
    about: 'How often clients listed the tools',
    width: 6,
    isNumber: true,
    room: 'extra',
    cell: ({ lists }) => count(lists),
    sortBy: ({ lists }) => lists,
  },
  {
    key: 'searches',
    title: 'Searches',
    width: 7,
    isNumber: true,
    room: 'extra',
    cell: ({ searches }) => count(searches),
    sortBy: ({ searches }) => searches,
  },
  tokenColumn(
    'everything',
    'Every tool',
    'Tokens of sending every definition',
    ({ everything }) => everything,
  ),
  tokenColumn(
    'sent',
    'Sent',
    'Tokens of tool lists, answers to searches, and extra requests of searches',
    sentOf,
  ),
  {
    key: 'saved',
    title: 'Saved',
    width: 11,
    isNumber: true,
    cell: ({ saved, everything }) => (
      <span class={saved < 0 ? 'bad' : ''}>
        {short(saved)} <span class={saved < 0 ? '' : 'quiet'}>({percent(saved, everything)})</span>
      </span>
    ),
    sortBy: ({ saved }) => saved,
  },
]

function Clients({ rows }: { rows: readonly SavingsRow[] }) {
  const [by, setBy] = useState('client')
  const [sort, setSort] = useState({ key: 'saved', isDescending: false })
  const groups = Map.groupBy(rows, ({ client, start }) => (by === 'client' ? client : String(start)))
  const lines = [...groups].map(([key, own]): Line => {
    const name =
      by === 'client'
        ? key
        : new Date(Number(key)).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
    return { ...addUp(own), name, order: by === 'client' ? key : Number(key) }
  })
  return (
    <section aria-labelledby="by">
      <div class="section-head">
        <h2 id="by">By {by}</h2>
        <Choices
          label="Group by"
          value={by}
          options={[
            ['client', 'Client'],
            ['day', 'Day'],
          ]}
          onChange={(value) => {
            setBy(value)
            setSort(
              value === 'day' ? { key: 'name', isDescending: true } : { key: 'saved', isDescending: false },
            )
          }}
        />
      </div>
      <Table
        label={`Savings by ${by}`}
        columns={columns(by === 'client' ? 'Client' : 'Day')}
        rows={lines}
        keyOf={({ name }) => name}
        sort={sort}
        onSort={setSort}
      />
    </section>
  )
}

interface BarRow {
  readonly server: string
  readonly tool: string
  readonly tokens: number
  readonly note?: string
}

function Bars({ rows }: { rows: readonly BarRow[] }) {
  const [isAll, setAll] = useState(false)
  const most = Math.max(...rows.map(({ tokens }) => tokens), 1)
  const shown = isAll ? rows : rows.slice(0, 10)
  return (
    <>
      <ol class="bars">
        {shown.map(({ server, tool, tokens, note }) => (
          <li key={`${server}/${tool}`} title={note}>
            <span class="bar" style={{ width: `${(100 * tokens) / most}%` }} />
            <a href={pathTo('tools', { text: tool, server })}>
              <ToolName server={server} tool={tool} />
            </a>
            <span class="number">
              {short(tokens)} <span class="unit">tokens</span>
            </span>
            {note !== undefined && <span class="reader">, {visible(note)}</span>}
          </li>
        ))}
      </ol>
      {rows.length > 10 && !isAll && <More onClick={() => setAll(true)}>Show all {count(rows.length)}</More>}
    </>
  )
}

const More = ({ onClick, children }: { onClick: () => void; children: ComponentChildren }) => (
  <button type="button" onClick={onClick}>
    {children}
  </button>
)
