internal import CarpoolHTTP
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// Carries out calls that name files, in two phases: a thread of the worker opens and inspects the files, then the call
/// is carried out on the loop.
final class CallFileService {
    /// The authorities and revocation lists of requests and sessions, by their user.
    private var knownMaterial: [UInt32: KnownTrustMaterial] = [:]
    private let account = TrustMaterialAccount()
    private let configuration: LiveConfiguration
    private var clientCertificates = ClientCertificateTable()
    private let loop: EventLoop
    private let worker: Worker
    private let files: FileStore
    private let pendingAnswers: PendingAnswers
    /// The files of a call that names none.
    let noFiles = CallFiles.none

    init(
        loop: EventLoop, worker: Worker, files: FileStore, configuration: LiveConfiguration,
        pendingAnswers: PendingAnswers
    ) {
        self.loop = loop
        self.worker = worker
        self.files = files
        self.configuration = configuration
        self.pendingAnswers = pendingAnswers
    }

    /// The time in which the files of a call must be open.
    struct Limit {
        var milliseconds: Int
        /// The parameter that raises it, for the error.
        var parameter: StaticString
    }

    /// Carries out a request with the files that it names; see ``withFiles(_:of:within:_:)``.
    /// - Parameter limit: the time in which they must be open, computed only if there are any.
    func withFiles(
        of call: Call, within limit: () throws(RPCError) -> Limit,
        _ carryOut: @escaping (CallFiles) throws(RPCError) -> Answer
    ) throws(RPCError) -> Answer {
        let names = CallFileNames(call.params)
        guard !names.isEmpty else { return try carryOut(noFiles) }
        return try withFiles(names, of: call, within: limit(), carryOut)
    }

    /// Carries out a call with its files: at once if it has none that may have to be waited for, else when the worker
    /// has opened them. If the caller disconnects before, or the limit passes, the call has no effect, and its files
    /// are closed when the worker has opened them.
    func withFiles(
        _ names: CallFileNames, of call: Call, within limit: Limit? = nil,
        _ carryOut: @escaping (CallFiles) throws(RPCError) -> Answer
    ) throws(RPCError) -> Answer {
        guard !names.isEmpty else { return try carryOut(noFiles) }
        let access = worker.access(for: call.client.identity.workerShare)
        let count = call.client.resources.descriptors.count
        guard !call.client.resources.descriptors.isMissingSome else { throw .shortage(EMFILE) }
        var claimed = claim(names, from: call.client, access)
        claimed.found.access = names.namesPaths ? call.client.pathAccess : nil
        var names = names.readable(byPath: claimed.found.access == .granted)
        let known = knownMaterial(of: call.client.uid)
        names.takeAuthorities(from: known, into: &claimed.found)
        guard names.needWorker || !claimed.unknown.isEmpty || claimed.output != nil else {
            try charge(claimed.found, to: call.client.identity)
            return try carryOut(CallFiles(claimed.found, descriptorCount: count))
        }
        let certificates = clientCertificates.known
        let (closer, unknown, output, user) = (access.closer, claimed.unknown, claimed.output, call.client.uid)
        (claimed.unknown, claimed.output) = ([:], nil)
        let job = { @Sendable [names, found = claimed.found] in
            var found = found
            for name in names.paths { found.open(name, closer) }
            var files = TrustMaterialFiles(known: known)
            for name in names.trust { found.read(name, &files) }
            for (index, file) in unknown { found.passed[index] = CallFiles.look(file, isInMemory: false) }
            if let output { found.passed[output.index] = OutputDescriptor(user: user).look(output.file) }
            for name in names.passwords { found.passwords[name.place] = name.read(found.passed) }
            found.clientCertificate = names.clientCertificate?.read(found.passed, known: certificates)
            found.destination = names.destination?.look()
            return found
        }
        run(job, access, for: call, within: limit, whenClosed: names.destination?.partial?.path) { [self] found in
            finish(call, found, descriptorCount: count, carryOut)
            found.destination?.partial?.release(to: files, for: access.share)
        }
        return .pending
    }

    /// Runs the job that opens the files of a call, when no finished request still has a partial file open.
    private func run(
        _ job: @escaping @Sendable () -> CallFiles.Found, _ access: WorkerAccess, for call: Call, within limit: Limit?,
        whenClosed partial: String?, then: @escaping (CallFiles.Found) -> Void
    ) {
        let endWait = beginWait(of: call, within: limit)
        let start = {
            guard call.isWanted else { return endWait() }
            do throws(WorkerError) {
                try access.run(job) { [self] found in
                    readOn(found, access, for: call) { found in
                        endWait()
                        then(found)
                    }
                }
            } catch {
                endWait()
                call.fail(.filesBusy(error))
            }
        }
        if let partial { files.whenPartialFileIsClosed(partial, start) } else { start() }
    }

    /// Reads a long partial file to its end, a part with each job, so that other files get their turns.
    private func readOn(
        _ found: CallFiles.Found, _ access: WorkerAccess, for call: Call, then: @escaping (CallFiles.Found) -> Void
    ) {
        guard let partial = found.destination?.partial, partial.isUnread, call.isWanted else { return then(found) }
        access.runAlways({ partial.readOn() }, then: { [self] in readOn(found, access, for: call, then: then) })
    }

    /// Begins the wait of a call for its files: for an earlier request that has the partial file open, then for the
    /// worker. When the limit has passed, the call fails. Returns what ends the wait.
    private func beginWait(of call: Call, within limit: Limit?) -> () -> Void {
        call.waitedSince = loop.now
        // A daemon that ends answers the call before it closes the connection.
        pendingAnswers.delayed += 1
        return loop.beginWait(milliseconds: limit?.milliseconds) { [pendingAnswers] isLate in
            if isLate, let limit {
                call.fail(.filesLate(milliseconds: limit.milliseconds, parameter: limit.parameter))
            }
            pendingAnswers.delayed -= 1
        }
    }

    private func finish(
        _ call: Call, _ found: CallFiles.Found, descriptorCount: Int,
        _ carryOut: (CallFiles) throws(RPCError) -> Answer
    ) {
        guard call.isWanted else { return }
        note(found)
        do throws(RPCError) {
            try charge(found, to: call.client.identity)
            let files = CallFiles(found, descriptorCount: descriptorCount)
            if case .result(let write) = try carryOut(files) { call.answer(write) }
        } catch {
            call.fail(error)
        }
    }

    /// Claims the descriptors that a call names; the others are closed when its line has been handled. All but those in
    /// memory are inspected and closed by the worker, since a file system or the lock of a socket may block.
    private func claim(_ names: CallFileNames, from client: any Client, _ access: WorkerAccess) -> ClaimedDescriptors {
        var claimed = ClaimedDescriptors()
        for index in names.descriptors {
            guard let raw = client.resources.descriptors.claim(index) else { continue }
            let file = WorkerFile(FileDescriptor(owning: raw), closer: access.closerOfPassed)
            if let passed = CallFiles.lookAtOnce(file) {
                claimed.found.passed[index] = passed
            } else {
                claimed.unknown[index] = file
            }
        }
        if let index = names.output, let raw = client.resources.descriptors.claim(index) {
            let file = WorkerFile(FileDescriptor(owning: raw), closer: access.closerOfPassed)
            if OutputDescriptor.isUsableAtOnce(raw) {
                claimed.found.passed[index] = .output(file, .pipe)
            } else {
                claimed.output = (index, file)
            }
        }
        return claimed
    }

    /// Shares a client certificate with other calls.
    func note(_ found: CallFiles.Found) { clientCertificates.adopt(found.clientCertificate) }

    private func knownMaterial(of user: UInt32) -> KnownTrustMaterial {
        if let known = knownMaterial[user] { return known }
        let known = KnownTrustMaterial()
        knownMaterial[user] = known
        return known
    }

    /// Counts what a call has read, as long as it is in use.
    private func charge(_ found: CallFiles.Found, to client: ClientIdentity) throws(RPCError) {
        var kept = found.trust.values.compactMap { try? $0.get().kept }
        if case .success(let read)? = found.clientCertificate {
            kept.append((read.certificate, read.certificate.contentBytes))
        }
        do throws(Quota.Refusal) {
            for (object, bytes) in kept {
                try account.charge(object, bytes: bytes, for: client, configuration.limits.trustBounds)
            }
        } catch {
            throw .tooMuchTrustMaterial(error)
        }
    }
}

/// The descriptors that a call names.
private struct ClaimedDescriptors {
    var found = CallFiles.Found()
    /// Those that have to be inspected, by their places.
    var unknown: [Int: WorkerFile] = [:]
    /// The one to write to, which has to be inspected too.
    var output: (index: Int, file: WorkerFile)?
}
