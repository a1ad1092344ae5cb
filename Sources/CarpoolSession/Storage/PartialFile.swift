internal import CarpoolSystem
internal import Glibc

/// The file that a download is written to until it is complete. It is in the directory of its destination, so that a rename completes it, with mode
/// 0600 and locked, so that no other request continues it meanwhile. Everything that may block runs as a job of its ``FileWriter``.
public final class PartialFile {
    /// The current path; the final path once it was moved.
    public private(set) var place: String
    /// How many bytes are written.
    public private(set) var count: Int64 = 0
    /// Whether it is open, and may be kept for a later request.
    private(set) var isKept = false
    /// Whether it could be opened.
    private(set) var isOpen = false
    /// The identity of the complete file: another one of the same name is not read.
    private(set) var identity: FileStatus.Identity?
    /// The request that writes it; a request that is over releases it soon.
    weak var owner: (any BodyOwner)?
    let writer: FileWriter
    private var leaveFollowers: [() -> Void] = []
    private let location: PartialLocation
    private let store: FileStore
    private let share: WorkerShare

    /// A new, empty file for a destination. ``begin(for:_:isResolved:then:)`` creates it.
    init(
        beside destination: String, request: String, index: PartialFileIndex?, _ store: FileStore, _ share: WorkerShare
    ) {
        let (folder, name) = PartialLocation.split(destination)
        let partialName = PartialName.make(for: name, request: request)
        let location = PartialLocation(place: "\(folder == "/" ? "" : folder)/\(partialName)", index: index)
        self.location = location
        self.store = store
        self.share = share
        place = location.place
        writer = FileWriter(store, share: share) { file in
            do throws(SystemError) {
                file.descriptor = try location.create(for: request)
                return nil
            } catch {
                return error
            }
        }
        store.partials.add(self, at: place)
    }

    /// A file that an earlier download has left.
    init(_ opened: consuming OpenedPartial, index: PartialFileIndex?, _ store: FileStore, _ share: WorkerShare) {
        self.store = store
        self.share = share
        place = opened.place
        count = opened.count
        let found = FoundFile(opened.descriptor, count: opened.count)
        location = PartialLocation(
            place: opened.place, folder: opened.folder, identity: opened.identity, index: index)
        writer = FileWriter(store, share: share) { file in
            found.hand(over: file)
            return nil
        }
        isOpen = true
        isKept = true
        store.partials.add(self, at: place)
    }

    deinit {
        // Descriptors are closed by a job, wherever the file was released.
        writer.close { [location] _ in location.close() }
        store.partials.removeGone(at: location.place)
        for follower in leaveFollowers { follower() }
    }

    /// Opens the directory of the destination, and creates the file if it is new.
    /// - Parameter then: gets the reason if the destination cannot be used.
    func begin(
        for path: String, _ options: DownloadOptions, isResolved: Bool, isHashed: Bool,
        then: @escaping (SystemError?) -> Void
    ) {
        let location = location
        writer.perform { file -> (error: SystemError?, isKept: Bool) in
            let error = location.openTarget(path, options, isResolved: isResolved) ?? file.open()
            if isHashed { file.wantHash() }
            return (error, location.isKept)
        } then: { [weak self] result in
            guard let self, let result else { return }
            if result.error == nil {
                isOpen = true
                isKept = result.isKept
            }
            then(result.error)
        }
    }

    /// Records the written size.
    func didWrite(to end: Int64) { count = end }

    /// Truncates the file to so many bytes; later writes follow them.
    func truncate(to count: Int64) {
        self.count = count
        writer.perform({ $0.truncate(to: count) }, then: { [weak self] _ in self?.count = count })
    }

    /// The facts of a completely written file.
    struct Whole: Sendable {
        let hash: [UInt8]?
        let identity: FileStatus.Identity?
        /// Its bytes, if it is small.
        let bytes: [UInt8]?
        let error: SystemError?
    }

    /// Writes and hashes everything.
    /// - Parameter limit: the most bytes of a small file.
    func finish(bytesAtMost limit: Int, then: @escaping (Whole?) -> Void) {
        let location = location
        writer.perform { file -> Whole? in
            guard file.catchUpHash() else { return nil }
            let isSmall = file.failure == nil && file.end <= Int64(limit)
            let bytes = isSmall ? try? file.read(at: 0, count: Int(file.end)) : nil
            return Whole(
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

    /// Renames it to its final name, in one step.
    func move(to destination: String, _ options: DownloadOptions, then: @escaping (SystemError?) -> Void) {
        let location = location
        writer.perform { file -> SystemError? in
            do throws(SystemError) {
                try location.move(file, to: destination, options)
                return nil
            } catch {
                return error
            }
        } then: { [self] result in
            guard let result else { return then(SystemError(code: ECANCELED, operation: "rename", subject: place)) }
            if result == nil { place = destination }
            then(result)
        }
    }

    /// Closes it, which unlocks it; the file stays.
    func close() { leave { $0.close() } }

    /// Removes it.
    func remove() { leave { $0.remove() } }

    private func leave(_ job: @escaping @Sendable (PartialLocation) -> Void) {
        writer.close { [location] _ in job(location) }
        writer.whenIdle { [self] in
            let waiting = leaveFollowers
            leaveFollowers = []
            for follower in waiting { follower() }
        }
    }

    /// Whether its request is done with it.
    var isLeft: Bool { owner?.hasStoppedWriting ?? true }

    /// Calls the body when the file is closed.
    func whenLeft(_ body: @escaping () -> Void) {
        if writer.isClosed, writer.isIdle { body() } else { leaveFollowers.append(body) }
    }
}

/// The descriptor of a file that was opened before its writer was made.
///
/// `@unchecked Sendable` because one thread at a time uses it: the one that opened it, then the loop, then the first job.
private final class FoundFile: @unchecked Sendable {
    private var descriptor: FileDescriptor?
    private let count: Int64

    init(_ descriptor: consuming FileDescriptor, count: Int64) {
        self.descriptor = consume descriptor
        self.count = count
    }

    func hand(over file: BackgroundFile) {
        file.descriptor = descriptor.take()
        file.end = count
    }
}

extension PartialFile: SpoolFile {
    /// The path at which others can open it.
    public var path: String? { place }

    /// Whether the write buffer is full, so that the transfer has to wait.
    public var isFull: Bool { writer.isFull }

    /// Appends bytes.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) { writer.append(bytes) }

    /// Does not rename the file: ``move(to:_:then:)`` does.
    public func complete(_ completion: @escaping (Result<[UInt8]?, SessionError>) -> Void) { completion(.success(nil)) }

    /// All of its bytes, wherever it is now.
    public func contents(_ completion: @escaping (Result<[UInt8], SessionError>) -> Void) {
        let (place, count, identity) = (place, count, identity)
        store.run(for: share, { PartialFile.read(place, count, identity) }, then: { completion($0.flatMap(\.self)) })
    }

    /// The same, synchronously.
    public func contents() throws(SessionError) -> [UInt8] { try PartialFile.read(place, count, identity).get() }

    private static func read(
        _ place: String, _ count: Int64, _ identity: FileStatus.Identity?
    ) -> Result<[UInt8], SessionError> {
        do throws(SystemError) {
            let opened = try FileDescriptor.open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            guard try FileStatus(of: opened.raw).identity == identity else {
                return .failure(.inputFileReadFailed(path: place, reason: "another file lies in its place"))
            }
            return .success(try FilePiece.read(opened.raw, at: 0, count: Int(clamping: count)))
        } catch {
            return .failure(.inputFileReadFailed(path: place, reason: error.description))
        }
    }

    /// Does nothing: the file of a download belongs to the caller.
    public func discard() {}
}
