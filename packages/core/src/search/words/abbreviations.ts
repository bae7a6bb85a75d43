/** Words that are written short as often as in full: both are one term. */
const written: Readonly<Record<string, string>> = {
  administrator: 'admin admins administrators',
  application: 'app apps applications',
  argument: 'arg args arguments',
  configuration: 'config configs configurations',
  database: 'db dbs databases',
  description: 'desc descriptions',
  development: 'dev',
  directory: 'dir dirs directories',
  environment: 'env envs environments',
  image: 'img imgs images',
  information: 'info',
  kubernetes: 'k8s',
  library: 'lib libs libraries',
  message: 'msg msgs messages',
  mongodb: 'mongo',
  organization: 'org orgs organizations organisation organisations',
  package: 'pkg pkgs packages',
  parameter: 'param params parameters',
  picture: 'pic pics pictures',
  postgresql: 'postgres',
  production: 'prod',
  repository: 'repo repos repositories',
  specification: 'spec specs specifications',
  statistic: 'stat stats statistics',
  synchronize: 'sync syncs',
  temperature: 'temp temps temperatures',
  timezone: 'tz timezones',
  variable: 'var vars variables',
}

const inFull = new Map(
  Object.entries(written).flatMap(([full, short]) => short.split(' ').map((each) => [each, full] as const)),
)

/** The full form of a word in lower case; the word itself where it has none. */
export function fullFormOf(word: string): string {
  return inFull.get(word) ?? word
}
