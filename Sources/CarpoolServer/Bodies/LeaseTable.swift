/// Which bodies are leased by which connections, so that closing a connection costs what it held, and not what all
/// hold.
struct LeaseTable {
    private var ofConnections: [Int: Set<String>] = [:]

    /// Notes that the body of a request is leased by the connection that asked for it.
    mutating func add(_ request: String, connection: Int) { ofConnections[connection, default: []].insert(request) }

    /// Forgets a body; nothing happens if it is not there.
    mutating func remove(_ request: String, connection: Int) {
        guard ofConnections[connection]?.remove(request) != nil else { return }
        if ofConnections[connection]?.isEmpty == true { ofConnections[connection] = nil }
    }

    /// The requests whose bodies go with a connection.
    func requests(of connection: Int) -> Set<String> { ofConnections[connection] ?? [] }
}
