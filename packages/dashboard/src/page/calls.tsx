/** Calls: the table that Now and Work share, and one call with its arguments and result. */
import type { CallDetail, CallRow, CutText } from '@toolwell/gateway/api'
import { useState } from 'preact/hooks'
import { bytes, count, duration, indentJson, lastFolder, plural, visible, withoutVersion } from './format.js'
import { useAnswer } from './gateway.js'
import { type Column, numberColumn, Table, textColumn, timeColumn } from './table.js'
import { Ago, Answer, Copy, Dialog, Facts, Problem, Scroll, Section, ToolName } from './ui.js'

const columns: readonly Column<CallRow>[] = [
  timeColumn(({ time }) => time),
  { key: 'tool', title: 'Tool', cell: (call) => <ToolName {...call} /> },
  textColumn('client', 'Client', ({ client }) => withoutVersion(client), { width: 10, room: 'extra' }),
  textColumn('project', 'Project', ({ project }) => project, {
    width: 10,
    room: 'extra',
    cell: ({ project }) => (
      <span class="quiet" title={visible(project)}>
        {visible(lastFolder(project))}
      </span>
    ),
  }),
  {
    key: 'outcome',
    title: 'Outcome',
    width: 7,
    cell: ({ outcome, reason }) => (
      <span
        class={outcome === 'error' ? 'bad' : outcome === 'refused' ? 'warn' : 'quiet'}
        title={reason && visible(reason)}
      >
        {outcome === 'error' ? 'failed' : outcome}
      </span>
    ),
  },
  numberColumn('took', 'Took', 6, ({ milliseconds }) => milliseconds, {
    room: 'extra',
    cell: ({ milliseconds }) => duration(milliseconds),
  }),
  numberColumn('tokens', 'Tokens', 6, ({ tokensOut }) => tokensOut, {
    about: 'Tokens of the result',
    room: 'not-narrow',
  }),
]

export function CallTable({ label, calls }: { label: string; calls: readonly CallRow[] }) {
  const [open, setOpen] = useState<CallRow>()
  return (
    <>
      <Table label={label} columns={columns} rows={calls} keyOf={({ id }) => String(id)} onOpen={setOpen} />
      {open && <CallDialog call={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

/** A call that was not run has no bytes. */
const size = (tokens: number, length: number) =>
  plural(tokens, 'token') + (length > 0 ? `, ${bytes(length)}` : '')

function CallDialog({ call, onClose }: { call: CallRow; onClose: () => void }) {
  const detail = useAnswer<CallDetail>(`calls/${call.id}`)
  const { outcome, reason, project, principal, client } = call
  return (
    <Dialog isPanel title={<ToolName {...call} />} onClose={onClose}>
      {outcome !== 'ok' && (
        <Problem>
          {outcome === 'error' ? 'The call failed.' : 'The gateway did not run the call.'}
          {reason !== undefined && ` Reason: ${visible(reason)}`}
        </Problem>
      )}
      <Facts
        rows={[
          ['When', <Ago key="time" time={call.time} />],
          ['Took', duration(call.milliseconds)],
          ['Client', visible(principal === client ? client : `${client} (${principal})`)],
          ['Project', visible(project)],
          ['Arguments', size(call.tokensIn, call.bytesIn)],
          ['Result', size(call.tokensOut, call.bytesOut)],
        ]}
      />
      <Answer from={detail}>
        {({ content, kept }) => (
          <>
            {kept && (
              <p>
                The client got only the beginning of this result. Read all of it with <code>read_result</code>{' '}
                and handle <code>{visible(kept.handle)}</code>.
              </p>
            )}
            {content ? (
              <>
                <Content title="Arguments" content={content.arguments} />
                <Content title="Result" content={content.result} />
              </>
            ) : (
              <p class="quiet">
                The gateway keeps arguments and results of the latest calls in memory. It no longer has those
                of this call.
              </p>
            )}
          </>
        )}
      </Answer>
    </Dialog>
  )
}

function Content({ title, content: { text, characters } }: { title: string; content: CutText }) {
  return (
    <Section level="h3" title={title} aside={<Copy text={text} />}>
      <Scroll label={title}>{visible(indentJson(text))}</Scroll>
      {characters > text.length && (
        <p class="quiet">
          Shown: the first {count(text.length)} of {count(characters)} characters.
        </p>
      )}
    </Section>
  )
}
