internal import CarpoolSystem
internal import Glibc

/// The file that a download is written to until it is complete. It is in the directory of its destination, so that a
/// rename completes it, with mode 0600 and locked, so that no other request continues it meanwhile. Everything that may
/// block runs as a job of its ``FileWriter``.
public final class PartialFile {
    /// The current path; the final path once it was moved.
    public private(set) var currentPath: String
    /// How many bytes are written.
    public private(set) var count: Int64 = 0
    /// The checksum of these bytes; `nil` while it is computed.
    private(set) var checksum: UInt32? = 0
    /// Whether it is open, and a later request may resume from it.
    private(set) var isResumable = false
    /// Whether it could be opened.
    private(set) var isOpen = false
    /// The identity of the complete file: another one of the same name is not read.
    private(set) var identity: FileStatus.Identity?
    /// The request that writes it; a request that is over releases it soon.
    weak var owner: (any BodyOwner)?
    let writer: FileWriter
    private var closeCompletions: [() -> Void] = []
    /// Whether it has its final name, and is closed.
    private var isMoved = false
    private let location: PartialLocation
    private let store: FileStore
    private let share: WorkerShare

    /// A new, empty file for a destination. ``begin(for:_:isResolved:then:)`` creates it.
    init(
        beside destination: String, request: String, index: PartialFileIndex?, _ store: FileStore, _ share: WorkerShare
    ) {
        let (folder, name) = PartialLocation.split(destination)
        let partialName = PartialName.make(for: name, request: request)
        let location = PartialLocation(path: "\(folder == "/" ? "" : folder)/\(partialName)", index: index)
        self.location = location
        self.store = store
        self.share = share
        currentPath = location.path
        writer = FileWriter(store, share: share) { file in
            do throws(SystemError) {
                file.descriptor = try location.create(for: request)
                file.record = PartialRecordKeeper()
                return nil
            } catch {
                return error
            }
        }
        store.partials.add(self, at: currentPath)
    }

    /// A file of an earlier download.
    /// - Parameter validator: the mark of the version which it holds.
    init(
        _ opened: consuming OpenedPartial, validator: String, index: PartialFileIndex?, _ store: FileStore,
        _ share: WorkerShare
    ) {
        self.store = store
        self.share = share
        currentPath = opened.path
        count = opened.count
        checksum = opened.checksum
        let record = PartialRecordKeeper(validator: validator, bytes: opened.count, checksum: opened.checksum)
        let existing = ExistingFile(opened.descriptor, count: opened.count, record)
        location = PartialLocation(
            path: opened.path, folder: opened.folder, identity: opened.identity, index: index)
        writer = FileWriter(store, share: share) { file in
            existing.attach(to: file)
            return nil
        }
        isOpen = true
        isResumable = true
        store.partials.add(self, at: currentPath)
    }

    deinit {
        // Descriptors are closed by a job, wherever the file was released.
        writer.close { [location] file in
            file.seal()
            location.close()
        }
        store.partials.removeFreed(at: location.path)
        for completion in closeCompletions { completion() }
    }

    /// Opens the directory of the destination, and creates the file if it is new.
    /// - Parameter then: gets the reason if the destination cannot be used.
    func begin(
        for path: String, _ options: DownloadOptions, isResolved: Bool, isHashed: Bool,
        then: @escaping (SystemError?) -> Void
    ) {
        let location = location
        writer.perform { file -> (error: SystemError?, place: String, isResumable: Bool) in
            let error = location.openTarget(path, options, isResolved: isResolved) ?? file.open()
            if isHashed { file.startHash() }
            return (error, location.place, location.isResumable)
        } then: { [weak self] result in
            guard let self, let result else { return }
            if result.error == nil {
                isOpen = true
                isResumable = result.isResumable
                currentPath = result.place
            }
            then(result.error)
        }
    }

    /// Records the written size.
    func didWrite(to end: Int64) {
        count = end
        checksum = writer.checksum
    }

    /// Truncates the file to so many bytes; later writes follow them.
    func truncate(to count: Int64) {
        if count != self.count { checksum = count == 0 ? 0 : nil }
        self.count = count
        writer.perform { file -> UInt32? in
            file.truncate(to: count)
            return file.record?.checksum
        } then: { [weak self] checksum in
            guard let self else { return }
            self.count = count
            self.checksum = checksum ?? nil
        }
    }

    /// The bytes that follow are of the version with this mark; with `nil` they cannot be resumed.
    func hold(_ validator: String?) {
        writer.perform({ $0.hold(validator) }, then: { _ in })
    }

    /// Hash, identity and, if it is small, content of a completely written file.
    struct WrittenFile: Sendable {
        let hash: [UInt8]?
        let identity: FileStatus.Identity?
        /// Its bytes, if it is small.
        let bytes: [UInt8]?
        let error: SystemError?
    }

    /// Writes and hashes everything.
    /// - Parameter limit: the most bytes of a small file.
    func finish(bytesAtMost limit: Int, then: @escaping (WrittenFile?) -> Void) {
        let location = location
        writer.perform { file -> WrittenFile? in
            guard file.catchUpHash() else { return nil }
            let isSmall = file.failure == nil && file.end <= Int64(limit)
            let bytes = isSmall ? try? file.read(at: 0, count: Int(file.end)) : nil
            return WrittenFile(
                hash: file.finishHash(), identity: location.identity, bytes: bytes, error: file.failure)
        } then: { [weak self] whole in
            guard let self, let whole else { return then(nil) }
            // More bytes are to be hashed.
            guard let whole else { return finish(bytesAtMost: limit, then: then) }
            identity = whole.identity
            then(whole)
        }
    }

    /// Hashes the bytes of an earlier download in pieces, while the rest arrives.
    func catchUpHash() {
        writer.perform({ $0.catchUpHash() }, then: { [weak self] isDone in if isDone == false { self?.catchUpHash() } })
    }

    /// Puts it in its final place.
    func move(to destination: String, _ options: DownloadOptions, then: @escaping (SystemError?) -> Void) {
        let location = location
        writer.perform { file -> Result<FileStatus.Identity?, SystemError> in
            do throws(SystemError) {
                try location.move(file, to: destination, options)
                return .success(location.identity)
            } catch {
                return .failure(error)
            }
        } then: { [self] result in
            switch result {
            case nil: then(SystemError(code: ECANCELED, operation: "rename", subject: currentPath))
            case .failure(let error): then(error)
            case .success(let identity):
                self.identity = identity
                currentPath = destination
                isMoved = true
                callCloseCompletions()
                then(nil)
            }
        }
    }

    /// Closes it, which unlocks it; the file stays.
    func close() {
        close { location, file in
            file.seal()
            location.close()
        }
    }

    /// Removes it.
    func remove() { close { location, _ in location.remove() } }

    /// Closes the file with a last job, and calls the completions that wait for that.
    private func close(_ job: @escaping @Sendable (PartialLocation, BackgroundFile) -> Void) {
        writer.close { [location] file in job(location, file) }
        writer.whenIdle { [self] in callCloseCompletions() }
    }

    private func callCloseCompletions() {
        let waiting = closeCompletions
        closeCompletions = []
        for completion in waiting { completion() }
    }

    /// Whether its request no longer writes it.
    var isReleased: Bool { owner?.hasStoppedWriting ?? true }

    /// Calls the body when the file is closed.
    func whenClosed(_ body: @escaping () -> Void) {
        if isMoved || writer.isClosed && writer.isIdle { body() } else { closeCompletions.append(body) }
    }
}

/// The descriptor of a file that was opened before its writer was made.
///
/// `@unchecked Sendable` because one thread at a time uses it: the one that opened it, then the loop, then the first
/// job.
private final class ExistingFile: @unchecked Sendable {
    private var descriptor: FileDescriptor?
    private let count: Int64
    private let record: PartialRecordKeeper

    init(_ descriptor: consuming FileDescriptor, count: Int64, _ record: PartialRecordKeeper) {
        self.descriptor = consume descriptor
        self.count = count
        self.record = record
    }

    func attach(to file: BackgroundFile) {
        file.descriptor = descriptor.take()
        file.end = count
        file.record = record
    }
}

extension BackgroundFile {
    /// The bytes that follow are of this version.
    fileprivate func hold(_ validator: String?) {
        if let descriptor = descriptor?.raw { record?.hold(validator, in: descriptor) }
    }

    /// Records that no more bytes follow.
    fileprivate func seal() {
        if let descriptor = descriptor?.raw { record?.seal(descriptor, end: end) }
    }
}

extension PartialFile: SpoolFile {
    /// The path at which others can open it.
    public var path: String? { currentPath }

    /// Whether the write buffer is full, so that the transfer has to wait.
    public var isFull: Bool { writer.isFull }

    /// Appends bytes.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) { writer.append(bytes) }

    /// Does not rename the file: ``move(to:_:then:)`` does.
    public func complete(_ completion: @escaping (Result<[UInt8]?, SessionError>) -> Void) { completion(.success(nil)) }

    /// All of its bytes, wherever it is now.
    public func contents(_ completion: @escaping (Result<[UInt8], SessionError>) -> Void) {
        let (path, count, identity) = (currentPath, count, identity)
        store.run(for: share, { PartialFile.read(path, count, identity) }, then: { completion($0.flatMap(\.self)) })
    }

    /// Returns all of its bytes, synchronously.
    public func contents() throws(SessionError) -> [UInt8] { try PartialFile.read(currentPath, count, identity).get() }

    private static func read(
        _ path: String, _ count: Int64, _ identity: FileStatus.Identity?
    ) -> Result<[UInt8], SessionError> {
        do throws(SystemError) {
            let opened = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            guard try FileStatus(of: opened.raw).identity == identity else {
                return .failure(
                    .inputFileReadFailed(path: path, reason: "the file at this path was replaced by another one"))
            }
            return .success(try FilePiece.read(opened.raw, at: 0, count: Int(clamping: count)))
        } catch {
            return .failure(.inputFileReadFailed(path: path, error))
        }
    }

    /// Does nothing: the file of a download belongs to the caller.
    public func discard() {}
}
