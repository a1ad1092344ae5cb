// Verdicts, and how they differ from those that are expected.

const GOOD = new Set(['pass', 'yes', 'no'])

/** Return for each test its id, kind, verdict and message, and the reason if its failure is known. */
export function judged (suites, all, results, verdictOf, known) {
  const found = []
  for (const test of suites.flatMap(suite => suite.tests)) {
    const result = results[test.id]
    found.push({
      id: test.id,
      kind: test.kind ?? 'required',
      verdict: verdictOf(all, test.id, results),
      message: Array.isArray(result) ? result.join(': ') : '',
      known: known[test.id]
    })
  }
  return found
}

export const isGood = test => GOOD.has(test.verdict)
export const isUnexpected = test => !isGood(test) && test.known === undefined

/** Print the failures and the counts. The last line is read by Tests/Support/groups.sh. */
export function print (tests, name, seconds) {
  const bad = tests.filter(test => !isGood(test))
  for (const test of bad) {
    console.log(`${test.known === undefined ? 'FAIL ' : 'known'} ${test.kind} ${test.id}: ${test.verdict}: ${test.message}`)
    if (test.known !== undefined) console.log(`      ${test.known}`)
  }
  for (const test of tests.filter(test => isGood(test) && test.known !== undefined)) {
    console.log(`note  ${test.kind} ${test.id} passes: remove it from known.json`)
  }
  const count = (kind, verdict) => tests.filter(test => test.kind === kind && test.verdict === verdict).length
  const of = kind => tests.filter(test => test.kind === kind).length
  const any = verdict => tests.filter(test => test.verdict === verdict).length
  console.log(`cache-tests, ${name}: required ${count('required', 'pass')} of ${of('required')}, ` +
    `optimal ${count('optimal', 'pass')} of ${of('optimal')}, check ${any('yes')} yes and ${any('no')} no, ` +
    `setup failures ${any('setup_fail')}, dependency failures ${any('dependency_fail')}, ` +
    `others ${any('harness_fail') + any('retry') + any('untested')}`)
  const failed = tests.filter(isUnexpected).length
  console.log(`${tests.length - bad.length} passed, ${failed} failed in ${seconds.toFixed(2)}s`)
  return failed
}
