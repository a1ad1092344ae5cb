import CarpoolHTTP
import CarpoolSession
import Glibc
import Testing

/// What a failure reports about the network.
struct ExplanationTests {
    let network = ScriptedConnectivity()
    let stage: Stage

    init() throws { stage = try Stage(connectivity: network) }

    func failure(_ error: TransportError, lost: Bool = true) -> SessionError? {
        let request = stage.send()
        if lost { network.lose() }
        stage.transport.complete(error)
        return request.error
    }

    private func facts(_ error: SessionError?) -> [String: String] {
        guard case .facts(let facts)? = error?.details.first(where: { $0.name == "reachability" })?.value else {
            return [:]
        }
        var result: [String: String] = [:]
        for fact in facts { result[fact.name] = "\(fact.value)" }
        return result
    }

    @Test(arguments: [
        TransportError(.timedOut, "late", timeout: "idle"), TransportError(.networkConnectionLost, "gone"),
        TransportError(.notConnectedToInternet, "no route", systemCode: ENETUNREACH),
        TransportError(.cannotConnectToHost, "silent", systemCode: ETIMEDOUT),
    ]) func carriesTheStateOfTheNetwork(error: TransportError) {
        let facts = facts(failure(error))
        #expect(facts["status"] == #"string("unsatisfied")"#)
        #expect(facts["reason"] == #"string("no_carrier")"#)
        #expect(facts["supports_dns"] == "boolean(false)")
        #expect(facts["lost_meanwhile"] == "boolean(true)")
        #expect(network.freshLooks == 1)
    }

    @Test func aFailureWithoutALossSaysSo() {
        let facts = facts(failure(TransportError(.networkConnectionLost, "gone"), lost: false))
        #expect(facts["status"] == #"string("satisfied")"#)
        #expect(facts["reason"] == nil)
        #expect(facts["lost_meanwhile"] == "boolean(false)")
    }

    @Test(arguments: [
        TransportError(.cannotConnectToHost, "refused", systemCode: ECONNREFUSED), TransportError(.cancelled, "over"),
        TransportError(.serverCertificateUntrusted, "who?"), TransportError(.cannotParseResponse, "rubbish"),
    ]) func whatSomebodyHasAnsweredIsNotTheNetworks(error: TransportError) {
        #expect(failure(error)?.details.isEmpty == true)
        #expect(network.freshLooks == 0)
    }

    @Test(arguments: [
        (TransportError(.cannotFindHost, "?"), true),
        (TransportError(.cannotConnectToHost, "?", systemCode: EHOSTUNREACH), true),
        (TransportError(.cannotConnectToHost, "?", systemCode: EACCES), true),
        (TransportError(.cannotConnectToHost, "?", systemCode: EINVAL), true),
        (TransportError(.cannotConnectToHost, "?", systemCode: ETIMEDOUT), false),
        (TransportError(.timedOut, "?"), false),
    ]) func namesTheFailureByTheNetwork(error: TransportError, isOffline: Bool) {
        let code = isOffline ? TransportError.Code.notConnectedToInternet : error.code
        #expect(failure(error)?.name == "session_task_failed.\(code.rawValue)")
        #expect(stage.monitor.events.contains("task.didComplete(\(code.rawValue))"))
    }

    @Test func aNameThatNobodyCanBeAskedForIsNotUnknown() {
        var path = NetworkPath(.satisfied)
        path.supportsDNS = false
        network.set(path, to: "a.test")
        #expect(failure(TransportError(.cannotFindHost, "?"), lost: false)?.urlErrorCode == -1_009)
        network.set(nil, to: "a.test")
        #expect(failure(TransportError(.cannotFindHost, "?"), lost: false)?.urlErrorCode == -1_003)
    }

    @Test func withoutAnybodyWhoLooksThereIsNothingToTell() throws {
        let stage = try Stage()
        let request = stage.send { $0.waitsForConnectivity = true }
        stage.transport.complete(TransportError(.notConnectedToInternet, "no route"))
        #expect(request.error?.details.isEmpty == true)
    }
}
