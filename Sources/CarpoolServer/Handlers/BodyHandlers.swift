internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// `body.*`: sends the bodies of requests piece by piece, and reads those of responses, for clients that cannot open a
/// file.
struct BodyHandlers {
    let requests: RequestService
    let worker: Worker
    let files: FileStore

    var table: [String: Handler] { ["body.put": put, "body.read": read, "body.open": open, "body.release": release] }

    private func read(_ call: Call) throws(RPCError) -> Answer {
        let id = call.params["request"]?.string ?? ""
        let offset = call.params["offset"]?.int ?? 0
        let length = call.params["length_bytes"]?.int ?? 32_768
        let body = try body(of: id, for: call.client)
        let size = body.size
        let read: @Sendable () -> Result<[UInt8], SystemError> = {
            Result { () throws(SystemError) in try body.read(at: offset, count: length) }
        }
        run(read, of: body, for: call) { result in
            guard case .success(let bytes) = result else { return call.fail(Self.refusal(of: result, id)) }
            call.answer { writer in
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
        return .pending
    }

    private static func refusal<Value>(of result: Result<Value, SystemError>, _ id: String) -> RPCError {
        if case .failure(let error) = result, error.isShortage { return .shortage(error.code) }
        return .bodyGone(request: id)
    }

    /// Runs what reads a body: at once if it is in memory, else on the worker.
    private func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, of body: StoredBody, for call: Call, then: @escaping (Value) -> Void
    ) {
        guard case .file = body else { return then(work()) }
        files.run(for: Spool.share(of: call.client.identity), work) { result in
            switch result {
            case .success(let value): then(value)
            case .failure: call.fail(.tooManyInFlight("running calls", limit: requests.limits.callsPerConnection))
            }
        }
    }

    private func open(_ call: Call) throws(RPCError) -> Answer {
        let id = call.params["request"]?.string ?? ""
        guard call.batch == nil else {
            throw .invalidRequest("a descriptor cannot be passed with a batch")
        }
        guard call.client.limits.takesDescriptors else {
            throw .tooManyInFlight("descriptors to pass", limit: requests.limits.descriptorsPerConnection)
        }
        let body = try body(of: id, for: call.client)
        // A body in the daemon's memory is closed on the thread that made it.
        var closer: WorkerFile.Closer?
        if case .file = body { closer = worker.access(for: call.client.identity.workerShare).closer }
        let open: @Sendable () -> Result<WorkerFile, SystemError> = { [closer] in
            Result { () throws(SystemError) in WorkerFile(try body.open(), closer: closer) }
        }
        run(open, of: body, for: call) { result in
            guard case .success(let file) = result else { return call.fail(Self.refusal(of: result, id)) }
            pass(file, size: body.size, to: call)
        }
        return .pending
    }

    private func pass(_ file: WorkerFile, size: Int64, to call: Call) {
        // Others may have been passed meanwhile.
        guard call.client.limits.takesDescriptors else {
            return call.fail(.tooManyInFlight("descriptors to pass", limit: requests.limits.descriptorsPerConnection))
        }
        call.passedDescriptor = file
        call.answer { writer in
            writer.beginObject()
            writer.member("descriptor", 0)
            writer.member("size_bytes", size)
            writer.endObject()
        }
    }

    /// The body of a request that is over, if the caller may see it.
    private func body(of id: String, for client: any Client) throws(RPCError) -> StoredBody {
        if let body = try spooledBody(of: id, for: client) {
            guard let path = body.path else {
                throw .wrongState(request: id, state: "resumed", expected: "a finished request")
            }
            return .file(path: path, size: body.count)
        }
        let entry = try requests.entry(id, for: client)
        guard entry.request.isFinished else {
            throw .wrongState(request: id, state: entry.request.state.rawValue, expected: "a finished request")
        }
        switch entry.request.body.storage {
        case .memory(let bytes) where bytes.count == entry.request.body.count: return .memory(bytes)
        case .file(let file):
            guard let path = file.path else { throw .bodyGone(request: id) }
            return .file(path: path, size: entry.request.body.count)
        case .memory: throw .bodyGone(request: id)
        }
    }

    /// The body of a request in the spool, if there is one. The body of a request without a client cannot be read or
    /// removed by any client.
    private func spooledBody(of id: String, for client: any Client) throws(RPCError) -> SpooledBody? {
        guard let body = requests.spool.body(of: id) else { return nil }
        guard let owner = body.owner, requests.mayRead(owner, client) else { throw .requestNotFound(id) }
        return body
    }

    private func release(_ call: Call) throws(RPCError) -> Answer {
        let id = call.params["request"]?.string ?? ""
        let changed = try spooledBody(of: id, for: call.client) != nil
        requests.wait(for: { _ = requests.spool.release(id, then: $0) }) {
            call.answer { StateChange.write(changed, state: "released", to: &$0) }
        }
        return .pending
    }
}
