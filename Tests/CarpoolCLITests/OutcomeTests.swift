@testable import CarpoolCLI
import CarpoolCaller
import CarpoolJSON
import Testing

struct OutcomeTests {
    @Test("--fail refuses the statuses from 400 on", arguments: [(200, true), (399, true), (400, false), (503, false)])
    func statuses(_ status: Int, _ isAccepted: Bool) throws {
        var request = RequestArguments(method: "GET")
        request.failsOnStatus = true
        let text = #"{"outcome":{"ok":true},"response":{"status":\#(status),"url":"http://a/"}}"#
        let record = try JSON.parse(Array(text.utf8))
        do throws(Failure) {
            try Outcome(record, request).check()
            #expect(isAccepted)
        } catch {
            #expect(!isAccepted)
            #expect(error.code == .httpFailure)
        }
        request.failsOnStatus = false
        try Outcome(record, request).check()
    }
}
