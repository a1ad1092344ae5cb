internal import CarpoolCaller
internal import CarpoolJSON

/// The requests of the daemon.
struct RequestList {
    private let daemon: DaemonAccess

    init(_ daemon: DaemonAccess) { self.daemon = daemon }

    /// The entries in a state, or all of them, of the clients of a scope, `mine` or `all`; the oldest first.
    func entries(in state: String?, scope: String = "all") throws(Failure) -> [JSON] {
        var entries: [JSON] = []
        var next: String?
        repeat {
            let page = try daemon.call("request.list") { writer in
                writer.beginObject()
                writer.member("scope", scope)
                writer.member("state", state)
                writer.member("next", next)
                writer.endObject()
            }
            page["requests"]?.forEachElement { entries.append($0) }
            next = page["next"]?.string
        } while next != nil
        return entries
    }

    /// Those that have not ended, the newest first.
    func active(scope: String = "all") throws(Failure) -> [JSON] {
        var entries: [JSON] = []
        for state in ["initialized", "resumed", "suspended", "cancelled"] {
            entries += try self.entries(in: state, scope: scope).filter { $0["finished"]?.bool != true }
        }
        return RequestList.newestFirst(entries)
    }

    static func newestFirst(_ entries: [JSON]) -> [JSON] {
        entries.sorted { ($0["created"]?.string ?? "") > ($1["created"]?.string ?? "") }
    }
}
