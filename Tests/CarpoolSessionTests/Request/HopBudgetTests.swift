@testable import CarpoolSession
import Testing

struct HopBudgetTests {
    @Test(
        "The maximum has room for the redirects that the caller permits",
        arguments: [(0, 40), (3, 40), (16, 40), (17, 41), (64, 88)])
    func maximum(_ redirects: Int, _ maximum: Int) {
        #expect(HopBudget.maximum(redirects: redirects) == maximum)
        var budget = HopBudget()
        // The first request is not one that a server causes.
        for _ in 1..<maximum { #expect(throws: Never.self) { try budget.use(.redirect, maximumRedirects: redirects) } }
        let error = #expect(throws: SessionError.self) { try budget.use(.repeat, maximumRedirects: redirects) }
        #expect(error?.name == "session_task_failed.too_many_hops")
        #expect(budget.used == maximum - 1)
    }

    @Test("Requests that belong together are counted together or not at all")
    func pairs() throws {
        var budget = HopBudget()
        for _ in 0..<19 { try budget.use(.refresh, maximumRedirects: 16) }
        #expect(throws: SessionError.self) { try budget.use(.refresh, maximumRedirects: 16) }
        #expect(budget.used == 38)
        try budget.use(.challenge, maximumRedirects: 16)
    }
}
