/** Asks as an agent would, and shows what agents asked. */
import type { SearchesAnswer, SearchLabAnswer, SearchMatch, SearchRow } from '@toolwell/gateway/api'
import { useState } from 'preact/hooks'
import { count, percent, plural, visible, withoutVersion } from './format.js'
import { revisions, session, useAnswer } from './gateway.js'
import { place, queryFilter, setQuery } from './router.js'
import { type Column, numberColumn, Table, textColumn, timeColumn } from './table.js'
import { Answer, Choices, Copy, Empty, Filter, Page, Scroll, Section, ToolName } from './ui.js'

export function SearchLab() {
  const { query } = place.value
  const asked = query.get('query') ?? ''
  const set = query.get('set') ?? ''
  const [text, setText] = useState(asked)
  const filter = new URLSearchParams({ query: asked, ...(set === '' ? {} : { set }) })
  const answer = useAnswer<SearchLabAnswer>(
    asked === '' ? undefined : `search?${filter}`,
    revisions.tools.value,
  )
  const sets = session.value?.sets ?? []
  return (
    <Page
      title="Search lab"
      about="Search as a model does. See the ranking, its reasons and the exact answer."
    >
      <search>
        <form
          class="filters ask"
          onSubmit={(event) => {
            event.preventDefault()
            setQuery({ query: text.trim() })
          }}
        >
          <input
            type="search"
            data-search
            placeholder="What should a tool do? For example: read a text file"
            aria-label="Query"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          {sets.length > 1 && (
            <Filter
              label="Config"
              options={sets.map(({ id, files }) => [id, files.join(', ')] as const)}
              {...queryFilter('set')}
            />
          )}
          <button type="submit" class="primary">
            Search
          </button>
        </form>
      </search>
      {asked !== '' && <Answer from={answer}>{(found) => <Found found={found} />}</Answer>}
      <Searches
        onAsk={(request) => {
          setText(request)
          setQuery({ query: request })
          scrollTo(0, 0)
        }}
      />
    </Page>
  )
}

function Found({ found: { answer, tokens, isUnclear, matches, others } }: { found: SearchLabAnswer }) {
  return (
    <div class="found" aria-live="polite">
      <Section
        title={matches.length === 0 ? 'Nothing found' : `${plural(matches.length, 'tool')} in the answer`}
      >
        {matches.length === 0 ? (
          <Empty title="No tool fits these words">
            Try other words{others.length > 0 && ', or look at the tools that came close'}.
          </Empty>
        ) : (
          isUnclear && <p class="quiet">No tool clearly fits, and the answer says so.</p>
        )}
        <Ranking matches={matches} />
        {others.length > 0 && (
          <details>
            <summary>{plural(others.length, 'tool')} ranked lower, not in the answer</summary>
            <Ranking matches={others} />
          </details>
        )}
      </Section>
      <Section
        title={
          <>
            What the model gets <span class="quiet">{plural(tokens, 'token')}</span>
          </>
        }
        aside={<Copy text={answer} />}
      >
        <Scroll label="What the model gets" data-answer>
          {visible(answer)}
        </Scroll>
      </Section>
    </div>
  )
}

const Ranking = ({ matches }: { matches: readonly SearchMatch[] }) => (
  <ol class="ranking">
    {matches.map((match) => (
      <Match key={match.name} {...match} />
    ))}
  </ol>
)

/** Words that are not in the query. */
const RELATIONS: Readonly<Record<string, string>> = { synonym: ' (synonym)', concept: ' (concept)' }

function Match({ server, tool, relevance, isLoaded, tokens, reasons }: SearchMatch) {
  return (
    <li>
      <div class="match">
        <ToolName server={server} tool={tool} />
        <span class="quiet">
          {isLoaded ? `loaded, ${plural(tokens, 'token')}` : 'name only'}, relevance {percent(relevance, 1)}
        </span>
      </div>
      <p class="reasons">
        {[...Map.groupBy(reasons, ({ term, kind }) => `${term} ${kind}`)].map(([key, own]) => (
          <span
            key={key}
            title={own.map(({ field, score }) => `${field} adds ${score.toFixed(3)}`).join('\n')}
          >
            <b>{visible(own[0]?.term ?? '')}</b>
            {RELATIONS[own[0]?.kind ?? '']} in{' '}
            {visible([...new Set(own.map(({ field }) => field))].join(', '))}
          </span>
        ))}
      </p>
    </li>
  )
}

const columns: readonly Column<SearchRow>[] = [
  timeColumn(({ time }) => time),
  textColumn('query', 'Query', ({ query }) => query),
  textColumn('client', 'Client', ({ client }) => withoutVersion(client), { width: 10, room: 'extra' }),
  numberColumn('found', 'Found', 5, ({ found }) => found, {
    cell: ({ found }) => <span class={found === 0 ? 'warn' : ''}>{count(found)}</span>,
  }),
  numberColumn('tokens', 'Tokens', 6, ({ tokens }) => tokens, { room: 'extra' }),
  textColumn('called', 'Then called', ({ called }) => called.join(', ') || 'nothing', { width: 18 }),
]

function Searches({ onAsk }: { onAsk: (query: string) => void }) {
  const searches = useAnswer<SearchesAnswer>('searches', revisions.searches.value + revisions.calls.value)
  const only = place.value.query.get('only') ?? ''
  return (
    <Section
      title="What models searched for"
      aside={
        <Choices
          label="Searches"
          options={[
            ['', 'All'],
            ['unused', 'No call followed'],
          ]}
          {...queryFilter('only')}
        />
      }
    >
      <Answer from={searches}>
        {({ searches: all }) => {
          const rows = only === '' ? all : all.filter(({ called }) => called.length === 0)
          return rows.length === 0 ? (
            <Empty title={all.length === 0 ? 'No searches yet' : 'Every search led to a call'}>
              {all.length === 0
                ? 'Try a search above. When an agent searches for a tool, its query appears here with the tools that it called next.'
                : 'If no call follows a search, the description of the tool often lacks the words that your agents use.'}
            </Empty>
          ) : (
            <Table
              label="Searches of models"
              columns={columns}
              rows={rows.slice(0, 200)}
              keyOf={({ id }) => String(id)}
              onOpen={({ query }) => onAsk(query)}
            />
          )
        }}
      </Answer>
    </Section>
  )
}
