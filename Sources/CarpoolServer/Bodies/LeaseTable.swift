/// Which bodies are leased by which clients and connections, so that closing a connection costs what it held, and not
/// what all hold.
struct LeaseTable {
    private var ofClients: [ClientIdentity: Set<String>] = [:]
    private var ofConnections: [Int: Set<String>] = [:]

    /// Notes that the body of a request is leased by its client, or by the connection that asked for it.
    mutating func add(_ request: String, of owner: ClientIdentity?, connection: Int) {
        if let owner { ofClients[owner, default: []].insert(request) }
        ofConnections[connection, default: []].insert(request)
    }

    /// Forgets a body; nothing happens if it is not there.
    mutating func remove(_ request: String, of owner: ClientIdentity?, connection: Int) {
        if let owner, ofClients[owner]?.remove(request) != nil, ofClients[owner]?.isEmpty == true {
            ofClients[owner] = nil
        }
        guard ofConnections[connection]?.remove(request) != nil else { return }
        if ofConnections[connection]?.isEmpty == true { ofConnections[connection] = nil }
    }

    /// The requests whose bodies go with a client or with a connection.
    func requests(of client: ClientIdentity, connection: Int) -> Set<String> {
        (ofClients[client] ?? []).union(ofConnections[connection] ?? [])
    }
}
