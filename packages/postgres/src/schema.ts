/** The tables, their version, and the script that creates them. */
import { ToolwellError } from '@toolwell/core'

export const SCHEMA_VERSION = 2

/** Checks the name of a schema and quotes it. */
export function quoteSchema(schema: string): string {
  if (typeof schema === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) return `"${schema}"`
  throw new ToolwellError(
    'invalid-option',
    `schema is ${JSON.stringify(schema)}. Give a name of at most 63 letters, digits and underscores that does not begin with a digit.`,
    { path: 'schema' },
  )
}

/**
 * Returns the SQL that creates the tables or upgrades older ones, or does nothing if they are current. It is one statement, so that it
 * also works behind PgBouncer.
 *
 * Texts are `text` and hold JSON, because `jsonb` refuses U+0000 and lone surrogates. A ledger has one row in `ledgers` and one row per
 * append in `appends`. Each append updates the row of its ledger, so appends to one ledger wait for each other, and a ledger that is
 * deleted at the same moment keeps no rows.
 *
 * The function `append` returns null if the events are stored, also by an earlier run whose answer was lost; otherwise the number of
 * events of the ledger, which is not `_first`. It is a function because PostgreSQL keeps the plans of its statements: that takes a
 * third off an append. Under repeatable read, `on conflict` fails while others append; `not exists` finds the conflict first.
 */
export function schemaSql(schema = 'toolwell_data'): string {
  const name = quoteSchema(schema)
  return `do $toolwell$
declare
  known integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('${schema}', 0));
  if to_regclass('${name}.version') is not null then
    select version into known from ${name}.version;
  else
    if to_regnamespace('${name}') is null then
      create schema ${name};
    end if;
    create table ${name}.version (version integer not null);
    insert into ${name}.version values (0);
  end if;
${STEPS.map((step, index) => `  if known < ${index + 1} then${step(name)}\n  end if;`).join('\n')}
  if known < ${SCHEMA_VERSION} then
    update ${name}.version set version = ${SCHEMA_VERSION};
  end if;
end
$toolwell$`
}

/** The statements that lead from each version to the next. */
const STEPS: readonly ((name: string) => string)[] = [
  (name) => `
    create table ${name}.ledgers (
      ledger text collate "C" primary key,
      events bigint not null,
      forked_from text collate "C" references ${name}.ledgers (ledger),
      updated_at timestamptz not null default now()
    );
    create index on ${name}.ledgers (forked_from) where forked_from is not null;
    create index on ${name}.ledgers (updated_at);
    create table ${name}.appends (
      ledger text collate "C" not null references ${name}.ledgers (ledger) on delete cascade,
      first bigint not null,
      count integer not null check (count > 0),
      format smallint not null,
      key text not null,
      events text not null,
      primary key (ledger, first)
    );
    create table ${name}.results (
      ledger text collate "C" not null,
      handle text collate "C" not null,
      content text not null,
      written_at timestamptz not null default now(),
      primary key (ledger, handle)
    );
    create index on ${name}.results (written_at);
    create table ${name}.usage (
      id bigint generated always as identity primary key,
      principal text not null,
      tool text not null,
      example text not null
    );
    create function ${name}.append(
      _ledger text, _first bigint, _count integer, _format smallint, _key text, _events text, _origin text
    ) returns bigint language plpgsql as $append$
    begin
      if _first = 0 then
        insert into ${name}.ledgers (ledger, events, forked_from)
        select _ledger, _count, (select ledger from ${name}.ledgers where ledger = _origin)
        where not exists (select from ${name}.ledgers where ledger = _ledger)
        on conflict do nothing;
      else
        update ${name}.ledgers set events = events + _count, updated_at = now()
        where ledger = _ledger and events = _first;
      end if;
      if found then
        insert into ${name}.appends (ledger, first, count, format, key, events)
        values (_ledger, _first, _count, _format, _key, _events);
        return null;
      end if;
      if exists (select from ${name}.appends where ledger = _ledger and first = _first and key = _key) then
        return null;
      end if;
      return coalesce((select events from ${name}.ledgers where ledger = _ledger), 0);
    end
    $append$;`,
  // The gateway. Every write to `state` counts `clock` up, so that replicas read only what has changed.
  (name) => `
    create table ${name}.clock (change bigint not null);
    insert into ${name}.clock values (0);
    create table ${name}.state (
      kind text collate "C" not null,
      key text collate "C" not null,
      change bigint not null,
      value text,
      primary key (kind, key)
    );
    create index on ${name}.state (change);
    create table ${name}.calls (
      batch text not null,
      place integer not null,
      ended_at timestamptz not null,
      record text not null,
      primary key (batch, place)
    );
    create index on ${name}.calls (ended_at);
    create table ${name}.call_sums (
      kind text collate "C" not null,
      start double precision not null,
      names text collate "C" not null,
      sums double precision[] not null,
      most double precision[] not null,
      primary key (kind, start, names)
    );
    create table ${name}.batches (
      key text primary key,
      written_at timestamptz not null default now()
    );
    create table ${name}.questions (
      handle text primary key,
      key text not null,
      replica text not null,
      seen_at timestamptz not null default now(),
      answer text,
      outcome text
    );
    create index on ${name}.questions (seen_at);`,
]
