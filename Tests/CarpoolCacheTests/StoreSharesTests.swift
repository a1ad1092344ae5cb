import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// HS-01: how the disk is divided, and when a stored response is of no more use.
struct StoreSharesTests {
    @Test(
        "A user has what it wants, up to an equal part of what the others leave",
        arguments: [
            ([1: 10, 2: 20], [1: 10, 2: 20]), ([1: 10, 2: 1_000], [1: 10, 2: 90]),
            ([1: 1_000, 2: 1_000], [1: 50, 2: 50]), ([1: 10, 2: 60, 3: 900], [1: 10, 2: 45, 3: 45]), ([:], [:]),
        ] as [([UInt32: Int], [UInt32: Int])])
    func shares(wanted: [UInt32: Int], expected: [UInt32: Int]) {
        let all = Dictionary(uniqueKeysWithValues: wanted.map { (UInt32?.some($0.key), $0.value) })
        let shares = CacheStores.shares(of: all, among: 100)
        #expect(shares.count == expected.count)
        for (user, bytes) in expected { #expect(shares[user] == bytes) }
    }

    @Test(
        "HS-06: of no more use is what is neither fresh, nor usable stale, nor can be validated",
        arguments: [
            (["Cache-Control: max-age=10"], 10_000), (["Cache-Control: max-age=10", "ETag: \"a\""], nil),
            (["Cache-Control: max-age=10, stale-if-error=5"], 15_000), (["Cache-Control: public"], nil),
            (["Cache-Control: max-age=0"], 0),
        ] as [([String], Int64?)])
    func usableUntil(lines: [String], expected: Int64?) {
        let response = DiskBench.response(lines, received: 1_000_000)
        let policy = CachePolicy(settings: CacheSettings())
        // The request took 10 ms, which count as age.
        #expect(policy.usableUntil(response, url: "http://a/") == expected.map { 1_000_000 + max(0, $0 - 10) })
    }
}
