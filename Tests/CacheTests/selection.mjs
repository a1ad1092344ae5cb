// Which tests are asked of which cache, and what the daemon's session is.

/** The caches under test by name: their setting in `session.create`, and which tests are not for them. */
export const CACHES = {
  private: {
    cache: { mode: 'private', heuristic: true, stale_if_offline_ms: 60000 },
    omits: test => isShared(test)
  },
  shared: {
    cache: { mode: 'shared', heuristic: true, coalesce: false, stale_if_offline_ms: 60000 },
    omits: test => test.browser_only === true
  },
  none: {
    cache: undefined,
    omits: test => isShared(test)
  }
}

// Of what a browser cannot ask, these are rules for shared caches; the rest is for both.
const SHARED = [/shared/, /^stale-close-(proxy-revalidate|s-maxage)/, /^other-authorization/]

function isShared (test) {
  return test.browser_skip === true && SHARED.some(pattern => pattern.test(test.id))
}

/** Return a copy of the suites with the tests for that cache, or those of `only`, made ready for the suite's runner. */
export function selected (suites, cache, only = []) {
  const chosen = []
  for (const suite of structuredClone(suites)) {
    // Fields for content delivery networks; interim responses need a client of another kind.
    if (suite.id === 'cdn-cache-control' || suite.id === 'interim') continue
    suite.tests = suite.tests.filter(test => !cache.omits(test) && (only.length === 0 || only.includes(test.id)))
    // The runner leaves out what its own fetch cannot ask.
    for (const test of suite.tests) test.browser_skip = false
    if (suite.tests.length > 0) chosen.push(suite)
  }
  return chosen
}

/** Return these tests with all on which they depend: the verdict of a test is that of its dependencies if they fail. */
export function withDependencies (suites, ids) {
  const tests = new Map(suites.flatMap(suite => suite.tests).map(test => [test.id, test]))
  const found = new Set(ids)
  for (const id of found) {
    if (!tests.has(id)) throw new Error(`there is no test ${id}`)
    for (const dependency of tests.get(id).depends_on ?? []) found.add(dependency)
  }
  return [...found]
}
