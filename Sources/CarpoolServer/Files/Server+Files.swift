internal import CarpoolHTTP
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

// The two phases of a call that names files: a thread of the worker opens and looks at them, then the call is carried out on the loop.
extension Server {
    /// Whether a client may have files opened by their paths: the daemon opens them with its own rights.
    func mayNameFiles(_ client: any Client) -> Bool { client.pathAccess == .granted }

    /// Carries out a call with its files: at once if it has none that may have to be waited for, else when the worker has opened them. Until
    /// then nothing has happened: a caller that goes away meanwhile has asked for nothing, and its files are closed.
    func withFiles(
        of call: Call, _ carryOut: @escaping (CallFiles) throws(RPCError) -> Answer
    ) throws(RPCError) -> Answer {
        let names = CallFileNames(call.params)
        guard !names.isEmpty else { return try carryOut(noFiles) }
        let access = worker.access(for: call.client.identity.workerShare)
        let count = call.client.descriptorCount
        var claimed = claim(names.descriptors, from: call.client, access)
        let mayName = !names.paths.isEmpty || !names.authorities.isEmpty ? mayNameFiles(call.client) : false
        let paths = mayName ? names.paths.filter { AbsolutePath.isOne($0.path) } : []
        let authorities = mayName ? names.authorities.filter { AbsolutePath.isOne($0.path) } : []
        guard !paths.isEmpty || !authorities.isEmpty || !claimed.unknown.isEmpty else {
            return try carryOut(CallFiles(claimed.found, descriptorCount: count))
        }
        let (known, closer, unknown) = (trustStores.known, access.closer, claimed.unknown)
        claimed.unknown = [:]
        let job = { @Sendable [found = claimed.found] in
            var found = found
            for name in paths { found.open(name, closer) }
            for name in authorities { found.read(name, known: known) }
            for (index, file) in unknown { found.passed[index] = CallFiles.look(file, isInMemory: false) }
            return found
        }
        do throws(WorkerError) {
            try access.run(job) { [self] found in
                guard call.isWanted else { return }
                finish(call, CallFiles(adopt(found), descriptorCount: count), carryOut)
            }
        } catch {
            throw .filesBusy(error)
        }
        return .pending
    }

    private func finish(
        _ call: Call, _ files: CallFiles, _ carryOut: (CallFiles) throws(RPCError) -> Answer
    ) {
        do throws(RPCError) {
            if case .result(let write) = try carryOut(files) { call.answer(write) }
        } catch {
            call.fail(error)
        }
    }

    /// Takes the descriptors that a call names; the others are closed when its line has been handled. Those that need a file system to be
    /// looked at are left to the worker.
    private func claim(
        _ indices: [Int], from client: any Client, _ access: WorkerAccess
    ) -> (found: CallFiles.Found, unknown: [Int: WorkerFile]) {
        var found = CallFiles.Found()
        var unknown: [Int: WorkerFile] = [:]
        for index in indices {
            guard let raw = client.claim(descriptor: index) else { continue }
            let waits = !FileDescriptor.isPipe(raw) && !FileDescriptor.isSocket(raw) && !FileDescriptor.isInMemory(raw)
            let file = WorkerFile(FileDescriptor(owning: raw), closer: waits ? access.closer : nil)
            if let passed = CallFiles.lookAtOnce(file) { found.passed[index] = passed } else { unknown[index] = file }
        }
        return (found, unknown)
    }

    private func adopt(_ found: CallFiles.Found) -> CallFiles.Found {
        var found = found
        for (place, reading) in found.authorities { found.authorities[place] = trustStores.adopt(reading) }
        return found
    }
}
