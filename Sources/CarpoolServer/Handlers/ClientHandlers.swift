internal import CarpoolJSON
internal import CarpoolRPC

/// `client.*`: the connected clients.
struct ClientHandlers {
    unowned let connections: ConnectionTable
    let callbacks: CallbackBroker
    let publisher: EventPublisher
    let configuration: LiveConfiguration
    let identity: DaemonIdentity

    /// Capabilities beyond protocol 1's core, by name.
    static let capabilities = ["callbacks", "events", "framing-content-length", "framing-json-seq"]

    var table: [String: Handler] { ["client.hello": hello, "client.list": list, "client.disconnect": disconnect] }

    private func hello(_ call: Call) throws(RPCError) -> Answer {
        if let versions = call.params["protocol"], versions.count > 0 {
            guard (0..<versions.count).contains(where: { versions[index: $0]?.int == 1 }) else {
                throw .versionNotSupported(
                    asked: (0..<versions.count).compactMap { versions[index: $0]?.int }, supported: [1])
            }
        }
        let missing = strings(call.params["required"]).filter { !ClientHandlers.capabilities.contains($0) }
        guard missing.isEmpty else { throw .capabilityMissing(missing) }
        guard call.params["name"]?.string != "" else {
            throw .invalidParams(
                path: "params.name", message: "is empty: leave it out for none", expected: "1 to 64 bytes")
        }
        let callbacks = try call.params["callbacks"].map(callbackNames)
        call.client.profile.introduce(
            name: call.params["name"]?.string, version: call.params["version"]?.string,
            maximumLineBytes: call.params["max_line_bytes"]?.int)
        if let callbacks { self.callbacks.declare(callbacks, by: call.client.number, uid: call.client.uid) }
        let asked = strings(call.params["required"]) + strings(call.params["optional"])
        return .result { write(call.client, asked: asked, to: &$0) }
    }

    private func callbackNames(_ json: JSON) throws(RPCError) -> [String] {
        let names = strings(json)
        if let index = names.firstIndex(of: "") {
            throw .invalidParams(path: "params.callbacks[\(index)]", message: "is empty", expected: "1 to 64 bytes")
        }
        return names
    }

    private func strings(_ json: JSON?) -> [String] {
        guard let json else { return [] }
        return (0..<json.count).compactMap { json[index: $0]?.string }
    }

    private func write(_ client: any Client, asked: [String], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("protocol", 1)
        writer.key("server")
        identity.write(to: &writer)
        writer.member("client", "c-\(client.number)")
        writer.key("peer")
        writer.beginObject()
        writer.member("uid", client.uid)
        writer.member("pid", client.profile.pid)
        writer.member("role", client.role.rawValue)
        writer.member("name", client.displayName)
        writer.member("identity", client.identity.text)
        writer.endObject()
        writer.key("capabilities")
        writer.beginObject()
        for name in ClientHandlers.capabilities { writer.key(name); writer.bool(true) }
        for name in Set(asked).subtracting(ClientHandlers.capabilities).sorted() {
            writer.key(name); writer.bool(false)
        }
        writer.endObject()
        writer.key("limits")
        configuration.limits.write(to: &writer)
        writer.member("cursor", publisher.cursor)
        writer.endObject()
    }

    /// All connections for an administrator, those of the caller's own user for others.
    private func list(_ call: Call) throws(RPCError) -> Answer {
        let (uid, isAdmin) = (call.client.uid, call.client.role == .admin)
        let after = try ListPage.place(of: call, radix: 10)
        let page = ListPage(call)
        let shown = connections.values.filter { $0.number > after && (isAdmin || $0.uid == uid) }
            .sorted { $0.number < $1.number }
        return .result { writer in
            writer.beginObject()
            page.write("clients", shown, to: &writer, name: { String($0.number) }, write)
            writer.endObject()
        }
    }

    private func write(_ connection: Connection, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("client", "c-\(connection.number)")
        writer.member("name", connection.displayName)
        writer.member("identity", connection.identity.text)
        writer.member("version", connection.profile.version)
        writer.member("uid", connection.uid)
        writer.member("pid", connection.profile.pid)
        writer.member("role", connection.role.rawValue)
        writer.member("connected", time: connection.connected)
        writer.member("messages", connection.callCount)
        writer.member("calls_in_flight", connection.callsUnderWay)
        writer.member("subscriptions", connection.resources.subscriptions.count)
        writer.member("callbacks", self.callbacks.names(of: connection.number))
        writer.member("unread_bytes", connection.unreadBytes)
        writer.endObject()
    }

    /// Closes a client's connection after this call is answered, so that it may be the caller's own.
    private func disconnect(_ call: Call) throws(RPCError) -> Answer {
        let name = call.params["client"]?.string ?? ""
        guard name.hasPrefix("c-"), let number = Int(name.dropFirst(2)), let connection = connections[number]
        else {
            throw .clientNotFound(name)
        }
        connection.beginClosing()
        return .result { StateChange.write(true, state: "disconnected", to: &$0) }
    }
}
