internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// `body.*`: the bytes of requests, piece by piece, and those of responses, for those who cannot open a file.
struct BodyHandlers {
    unowned let server: Server

    var table: [String: Handler] { ["body.put": put, "body.read": read, "body.release": release] }

    private func read(_ call: Call) throws(RPCError) -> Answer {
        let id = call.params["request"]?.string ?? ""
        let offset = call.params["offset"]?.int ?? 0
        let length = call.params["length_bytes"]?.int ?? 32_768
        let (bytes, size) = try piece(of: id, for: call.client, offset: offset, length: length)
        return .result { writer in
            writer.beginObject()
            writer.key("base64")
            bytes.withUnsafeBytes { writer.base64($0) }
            writer.member("offset", offset)
            writer.member("length_bytes", bytes.count)
            writer.member("size_bytes", size)
            writer.member("eof", Int64(offset) + Int64(bytes.count) >= size)
            writer.endObject()
        }
    }

    private func piece(
        of id: String, for client: any Client, offset: Int, length: Int
    ) throws(RPCError) -> (bytes: [UInt8], size: Int64) {
        if let body = server.spool.body(of: id) {
            guard body.owner.map({ server.mayRead($0, client) }) ?? false else { throw .requestNotFound(id) }
            guard body.path != nil else {
                throw .wrongState(request: id, state: "resumed", expected: "a finished request")
            }
            do throws(SystemError) {
                return (try body.read(at: Int64(offset), count: length), body.count)
            } catch {
                throw .bodyGone(request: id)
            }
        }
        let entry = try server.entry(id, for: client)
        guard entry.request.isFinished else {
            throw .wrongState(request: id, state: entry.request.state.rawValue, expected: "a finished request")
        }
        guard case .memory(let bytes) = entry.request.body.storage else { throw .bodyGone(request: id) }
        let start = min(offset, bytes.count)
        return (Array(bytes[start..<min(bytes.count, start + length)]), Int64(bytes.count))
    }

    private func release(_ call: Call) throws(RPCError) -> Answer {
        let id = call.params["request"]?.string ?? ""
        if let owner = server.spool.body(of: id)?.owner, !server.mayRead(owner, call.client) {
            throw .requestNotFound(id)
        }
        let changed = server.spool.release(id)
        return .result { StateChange.write(changed, state: "released", to: &$0) }
    }
}
