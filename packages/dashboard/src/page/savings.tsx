/** Tokens sent, compared with sending every definition. */
import type { SavingsAnswer, SavingsRow } from '@toolwell/gateway/api'
import { useState } from 'preact/hooks'
import { Chart } from './chart-box.js'
import { addUp, percent, plural, short } from './format.js'
import { revisions, session, useAnswer } from './gateway.js'
import { pathTo, place, setQuery } from './router.js'
import { type Column, numberColumn, Table, textColumn } from './table.js'
import { Answer, Choices, Empty, Page, Section, ToolName } from './ui.js'

const DAY = 86_400_000
const PERIODS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const

type Sums = Omit<SavingsRow, 'start' | 'client'>

const sentOf = ({ listTokens, answerTokens, roundTokens }: Sums) => listTokens + answerTokens + roundTokens
const isLoss = ({ saved }: Sums) => saved < 0

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
  const tone = isLoss(total) ? 'bad' : ''
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
            <p class={tone}>
              <strong>{short(Math.abs(total.saved))}</strong> tokens {tone ? 'more' : 'saved'}
            </p>
            <p class={tone}>
              <strong>{percent(Math.abs(total.saved), total.everything)}</strong> {tone ? 'more' : 'less'}{' '}
              than sending every tool
            </p>
            <p class="quiet">
              {short(sentOf(total))} sent instead of {short(total.everything)}: {short(total.listTokens)} in
              tool lists, {short(total.answerTokens)} in answers to {plural(total.searches, 'search')},{' '}
              {short(total.roundTokens)} in the extra requests of those searches.
            </p>
          </div>
          <Days answer={answer} from={from} days={days} />
          <Groups rows={answer.days} />
        </>
      )}
      <div class="found">
        <Section title="Tools that returned the most tokens">
          {responses.length > 0 ? (
            <Bars
              sort="response"
              rows={responses.map(({ calls, tokens, largest, ...tool }) => ({
                ...tool,
                tokens,
                note: `${plural(calls, 'call')}, at most ${plural(largest, 'token')} in one`,
              }))}
            />
          ) : (
            <Empty title="No results yet">
              The tools with the most result tokens are listed here. Each result stays in the conversation.
            </Empty>
          )}
        </Section>
        <Section title="Largest definitions">
          {definitions.length > 0 ? (
            <Bars sort="definition" rows={definitions} />
          ) : (
            <Empty title="No tools yet">The tools with the longest definitions are listed here.</Empty>
          )}
        </Section>
      </div>
    </>
  )
}

function Days({ answer, from, days }: { answer: SavingsAnswer; from: number; days: number }) {
  const times = Array.from({ length: days }, (_, index) => from + index * DAY)
  const sums = times.map((time) => sumUp(answer.days.filter(({ start }) => start === time)))
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

const sumUp = (rows: readonly SavingsRow[]): Sums =>
  addUp(rows, 'lists', 'everything', 'listTokens', 'searches', 'answerTokens', 'roundTokens', 'saved')

interface Line extends Sums {
  readonly name: string
  readonly order: string | number
}

const columns = (first: string): readonly Column<Line>[] => [
  textColumn('name', first, ({ name }) => name, { sortBy: ({ order }) => order }),
  numberColumn('lists', 'Lists', 6, ({ lists }) => lists, {
    about: 'How often clients listed the tools',
    room: 'extra',
  }),
  numberColumn('searches', 'Searches', 7, ({ searches }) => searches, { room: 'extra' }),
  numberColumn('everything', 'Every tool', 8, ({ everything }) => everything, {
    about: 'Tokens of sending every definition',
    room: 'not-narrow',
    show: short,
  }),
  numberColumn('sent', 'Sent', 6.5, sentOf, {
    about: 'Tokens of tool lists, answers to searches, and extra requests of searches',
    show: short,
  }),
  numberColumn('saved', 'Saved', 10, ({ saved }) => saved, {
    cell: (row) => (
      <span class={isLoss(row) ? 'bad' : ''}>
        {short(row.saved)} ({percent(row.saved, row.everything)})
      </span>
    ),
  }),
]
const WORST_FIRST = { key: 'saved', isDescending: false }
const NEWEST_FIRST = { key: 'name', isDescending: true }

function Groups({ rows }: { rows: readonly SavingsRow[] }) {
  const [by, setBy] = useState('client')
  const isClient = by === 'client'
  const nameOf = (day: number) =>
    new Date(day).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
  const lines = Map.groupBy(rows, ({ client, start }) => (isClient ? client : start))
  return (
    <Section
      title={`By ${by}`}
      aside={
        <Choices
          label="Group by"
          value={by}
          options={[
            ['client', 'Client'],
            ['day', 'Day'],
          ]}
          onChange={setBy}
        />
      }
    >
      <Table
        key={by}
        label={`Savings by ${by}`}
        columns={columns(isClient ? 'Client' : 'Day')}
        rows={[...lines].map(([order, own]) => ({
          ...sumUp(own),
          order,
          name: typeof order === 'number' ? nameOf(order) : order,
        }))}
        keyOf={({ name }) => name}
        sort={isClient ? WORST_FIRST : NEWEST_FIRST}
      />
    </Section>
  )
}

interface BarRow {
  readonly server: string
  readonly tool: string
  readonly tokens: number
  readonly note?: string
}

function Bars({ rows, sort }: { rows: readonly BarRow[]; sort: string }) {
  const most = Math.max(...rows.map(({ tokens }) => tokens), 1)
  return (
    <>
      <ol class="bars">
        {rows.slice(0, 10).map(({ server, tool, tokens, note }) => (
          <li key={`${server}/${tool}`} title={note}>
            <span class="bar" style={{ width: `${(100 * tokens) / most}%` }} />
            <a href={pathTo('tools', { text: tool, server })}>
              <ToolName server={server} tool={tool} />
            </a>
            <span class="number">
              {short(tokens)} <span class="unit">tokens</span>
            </span>
            {note !== undefined && <span class="reader">, {note}</span>}
          </li>
        ))}
      </ol>
      {rows.length > 10 && <a href={pathTo('tools', { sort, down: '1' })}>Show all tools</a>}
    </>
  )
}
