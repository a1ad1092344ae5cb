// Runs the suite: its server, its tests and its verdicts, with a fetch by the daemon.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

import { fetchingBy } from './fetching.mjs'
import { end, startDaemon, startServer } from './programs.mjs'
import { isUnexpected, judged, print } from './report.mjs'
import { CACHES, selected, withDependencies } from './selection.mjs'
import { Wire } from './wire.mjs'

const SESSION = 'cache-tests'
const MOST_REPEATED = 25

const { values: options } = parseArgs({
  options: {
    shared: { type: 'boolean', default: false },
    'no-cache': { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    parallel: { type: 'string', default: '25' },
    results: { type: 'string' }
  }
})
const name = options['no-cache'] ? 'none' : options.shared ? 'shared' : 'private'
const suite = resolve(process.env.CACHE_TESTS)
const load = path => import(pathToFileURL(join(suite, path)).href)
const { default: suites } = await load('tests/index.mjs')
const { runTests } = await load('test-engine/client/runner.mjs')
const { testResults } = await load('test-engine/client/test.mjs')
const { determineTestResult, resultTypes } = await load('test-engine/lib/results.mjs')

const known = JSON.parse(readFileSync(new URL('./known.json', import.meta.url)))[name] ?? {}
const words = new Map(Object.entries(resultTypes).map(([word, type]) => [type, word]))
const verdictOf = (all, id, results) => words.get(determineTestResult(all, id, results))

/** Run these tests, and return the results of all that have run. */
async function run (url, only, parallel) {
  for (const id of only) delete testResults[id]
  const chosen = selected(suites, CACHES[name], only)
  await runTests(chosen, true, url, parallel)
  return chosen
}

async function measure (wire, url) {
  const configuration = CACHES[name].cache === undefined ? {} : { cache: CACHES[name].cache }
  await wire.call('session.create', { name: SESSION, configuration })
  const original = globalThis.fetch
  const byDaemon = fetchingBy(wire, SESSION, name !== 'none')
  globalThis.fetch = (where, init) => (String(where).startsWith(`${url}/test/`) ? byDaemon : original)(where, init)
  const chosen = await run(url, withDependencies(suites, options.only), Number(options.parallel))
  const judge = () => judged(chosen, suites, testResults, verdictOf, known)
  const unexpected = judge().filter(isUnexpected)
  // The suite has deadlines of seconds, which a busy machine may miss: what fails is asked once more, alone.
  if (unexpected.length > 0 && unexpected.length <= MOST_REPEATED) {
    console.log(`once more: ${unexpected.map(test => `${test.id} (${test.message})`).join(', ')}`)
    await run(url, unexpected.map(test => test.id), 5)
  }
  return judge()
}

async function main () {
  const began = Date.now()
  const scratch = mkdtempSync(join(tmpdir(), 'carpool-ct-'))
  const started = []
  try {
    const server = await startServer(suite, scratch)
    started.push(server.process)
    const daemon = await startDaemon(process.env.CARPOOLD, scratch)
    started.push(daemon.process)
    const wire = await Wire.connect(daemon.socket)
    const tests = await measure(wire, server.url)
    wire.close()
    if (options.results !== undefined) writeFileSync(options.results, JSON.stringify(testResults, null, 2))
    return print(tests, name, (Date.now() - began) / 1000)
  } finally {
    for (const program of started) await end(program)
    rmSync(scratch, { recursive: true, force: true })
  }
}

// Not exit: what is printed must arrive.
process.exitCode = await main() === 0 ? 0 : 1
