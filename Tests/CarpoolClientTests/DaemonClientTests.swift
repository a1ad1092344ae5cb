import CarpoolJSON
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolClient

struct DaemonClientTests {
    private func call(_ replies: FakeDaemon.Reply...) throws -> String {
        let daemon = try FakeDaemon(replies)
        let client = try DaemonClient(DaemonFinder(location: daemon.location))
        var writer = JSONWriter()
        writer.value(try client.call("a.b") { $0.raw(Array("{}".utf8)) })
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func theResultIsTheAnswers() throws {
        #expect(try call(.answer(#"{"jsonrpc":"2.0","id":1,"result":[1]}"# + "\n")) == "[1]")
    }

    @Test func eventsBetweenCallAndAnswerAreSkipped() throws {
        let event = #"{"jsonrpc":"2.0","method":"event","params":{}}"#
        #expect(
            try call(.answer(event + "\n" + #"{"id":7,"result":7}"# + "\n" + #"{"id":1,"result":1}"# + "\n")) == "1")
    }

    @Test func anErrorCarriesItsNameAndHint() throws {
        let answer = #"{"id":1,"error":{"code":1101,"message":"m","data":{"name":"n","hint":"h"}}}"#
        let error = #expect(throws: ClientError.self) { _ = try call(.answer(answer + "\n")) }
        #expect(error == .refused(RemoteError(code: 1_101, message: "m", name: "n", hint: "h")))
    }

    @Test(arguments: ["nonsense\n", #"{"id":1}"# + "\n", #"{"id":1,"error":{"code":"x"}}"# + "\n"])
    func whatIsNoAnswerIsAViolation(_ answer: String) {
        let error = #expect(throws: ClientError.self) { _ = try call(.answer(answer)) }
        guard case .protocolViolation = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["", "half an ans"]) func aConnectionThatEndsEarlyIsTold(_ answer: String) {
        let error = #expect(throws: ClientError.self) { _ = try call(.answer(answer)) }
        guard case .disconnected = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aCallThatADepartingDaemonNeverReadIsMadeAgain() throws {
        #expect(try call(.leave, .answer(#"{"id":1,"result":true}"# + "\n")) == "true")
    }

    @Test func aNameIsSentAheadOfTheFirstCall() throws {
        #expect(try DaemonClient.introduction(name: nil).isEmpty)
        let line = String(decoding: try DaemonClient.introduction(name: "nightly \"x\""), as: UTF8.self)
        #expect(line == #"{"jsonrpc":"2.0","method":"client.hello","params":{"name":"nightly \"x\""}}"# + "\n")
        let error = #expect(throws: ClientError.self) {
            _ = try DaemonClient.introduction(name: String(repeating: "x", count: 65))
        }
        #expect(error == .invalidName("it has 65 bytes, more than 64"))
    }

    @Test func butNotForEver() {
        let error = #expect(throws: ClientError.self) { _ = try call(.leave, .leave, .leave) }
        guard case .disconnected = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
