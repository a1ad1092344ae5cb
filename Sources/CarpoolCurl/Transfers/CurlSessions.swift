internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The sessions of a command, for settings that name files: the daemon reads them once for a session, and for each
/// request otherwise. They end with the command.
final class CurlSessions {
    private let daemons: CurlDaemons
    private var made = 0
    /// How often the sessions were forgotten.
    private var epoch = 0

    init(_ daemons: CurlDaemons) { self.daemons = daemons }

    /// The session with the settings of an operation, from its second request on; `nil` if there is none. One that the
    /// daemon refuses is not asked for again: the requests then say why, in the words of their options.
    func name(for operation: CurlPreparedOperation, _ url: CurlURL) -> String? {
        guard url.scheme == "https", operation.settings.namesFiles else { return nil }
        operation.requests += 1
        guard operation.requests > 1 else { return nil }
        if operation.sessionEpoch != epoch || operation.requests == 2 {
            operation.sessionEpoch = epoch
            operation.session = make(operation, url)
        }
        return operation.session
    }

    private func make(_ operation: CurlPreparedOperation, _ url: CurlURL) -> String? {
        made += 1
        let name = "carpool-curl-\(getpid())-\(made)"
        let answer = try? daemons.call("session.create") { writer in
            CurlExchange.writeSession(name, lifetime: "connection", to: &writer) { writer in
                operation.settings.write(for: url, to: &writer)
            }
        }
        return answer?["changed"]?.bool == true ? name : nil
    }

    /// Forgets the sessions: another daemon has none of them.
    func removeAll() { epoch += 1 }
}
