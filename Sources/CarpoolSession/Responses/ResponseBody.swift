internal import CarpoolSystem

/// The body of a response as it arrives: in memory while it is small, in a file of the spool from then on.
public struct ResponseBody {
    /// Where the bytes are.
    public enum Storage {
        /// In memory.
        case memory([UInt8])
        /// In a file.
        case file(any SpoolFile)
    }

    /// Where the bytes are now.
    public private(set) var storage: Storage = .memory([])
    /// How many there are.
    public private(set) var count: Int64 = 0

    /// The SHA-256 of its bytes, 32 bytes, once it is whole; `nil` if nobody has asked for it.
    public private(set) var hash: [UInt8]?
    /// Whether the SHA-256 of its bytes is wanted.
    private let isHashed: Bool

    /// An empty body.
    /// - Parameter isHashed: whether the SHA-256 of what it will hold is wanted.
    public init(isHashed: Bool = false) { self.isHashed = isHashed }

    /// A body that is whole.
    init(_ file: any SpoolFile, count: Int64, hash: [UInt8]?) {
        storage = .file(file)
        self.count = count
        self.hash = hash
        isHashed = hash != nil
    }

    /// A body of which these bytes are kept: all of them, or none.
    init(_ bytes: [UInt8], count: Int64) {
        storage = .memory(bytes)
        self.count = count
        isHashed = false
    }

    /// Where its file lies, if it is in one that is whole.
    public var path: String? {
        if case .file(let file) = storage { return file.path }
        return nil
    }

    /// Counts bytes that somebody else takes; nothing of them is kept.
    mutating func pass(_ bytes: Int) { count &+= Int64(bytes) }

    /// Whether what comes has to wait until some of what is there is written.
    var isFull: Bool {
        if case .file(let file) = storage { return file.isFull }
        return false
    }

    /// Adds a piece; moves everything to a file when memory would hold more than the limit. A body that cannot be kept is dropped as a whole,
    /// so that it takes no room from others.
    mutating func append(_ bytes: UnsafeRawBufferPointer, memoryLimit: Int, spool: any BodySpool, owner: Request)
        throws(SessionError)
    {
        count &+= Int64(bytes.count)
        hash = nil
        do throws(SessionError) {
            try keep(bytes, memoryLimit: memoryLimit, spool: spool, owner: owner)
        } catch {
            discard()
            throw error
        }
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer, memoryLimit: Int, spool: any BodySpool, owner: Request)
        throws(SessionError)
    {
        switch storage {
        case .file(let file): try file.write(bytes)
        case .memory(var kept):
            if count <= Int64(memoryLimit) {
                // Emptied first, so that the array is not shared while it grows.
                storage = .memory([])
                kept.append(contentsOf: bytes)
                storage = .memory(kept)
                return
            }
            let file = try spool.makeFile(for: owner, isHashed: isHashed)
            storage = .file(file)
            try ResponseBody.write(kept, to: file)
            try file.write(bytes)
        }
    }

    /// Drops the bytes, where they cannot be kept; the count stays.
    public mutating func discard() {
        if case .file(let file) = storage { file.discard() }
        storage = .memory([])
    }

    /// All of its bytes, wherever they are, now. Blocks while a file is read: for programs that embed the session.
    /// - Throws: `response_serialization_failed.input_too_large` if there are more than the limit, `.input_file_nil` if they were not kept, and
    ///   `.input_file_read_failed` if their file cannot be read.
    public func bytes(atMost limit: Int) throws(SessionError) -> [UInt8] {
        if case .file(let file) = storage {
            guard count <= Int64(limit) else { throw .inputTooLarge(count, limit: limit) }
            return try file.contents()
        }
        return try keptBytes(atMost: limit)
    }

    /// The same, when they are there: at once if they are in memory.
    func bytes(atMost limit: Int, completion: @escaping (Result<[UInt8], SessionError>) -> Void) {
        if case .file(let file) = storage, count <= Int64(limit) { return file.contents(completion) }
        do throws(SessionError) { completion(.success(try keptBytes(atMost: limit))) } catch {
            completion(.failure(error))
        }
    }

    private func keptBytes(atMost limit: Int) throws(SessionError) -> [UInt8] {
        guard count <= Int64(limit) else { throw .inputTooLarge(count, limit: limit) }
        guard case .memory(let bytes) = storage, bytes.count == count else { throw .inputFileNil }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to file: any SpoolFile) throws(SessionError) {
        try bytes.withUnsafeBufferPointer { kept throws(SessionError) in try file.write(UnsafeRawBufferPointer(kept)) }
    }
}

// MARK: The end
extension ResponseBody {
    /// Whether all of its bytes are in memory.
    public var isKeptInMemory: Bool {
        if case .memory(let bytes) = storage { return bytes.count == count }
        return false
    }

    /// Whether something is left to do when all of it has come.
    var mustBeCompleted: Bool {
        if case .memory = storage { return isHashed && hash == nil }
        return true
    }

    /// What completing a body came to.
    struct Completion {
        /// The hash, if it is wanted.
        let hash: [UInt8]?
        /// Why its file cannot be kept.
        let error: SessionError?
    }

    /// Has everything written and hashed, and gives a file its final name; until then no one else can see it. ``adopt(_:)`` takes the outcome.
    func complete(_ store: FileStore, share: WorkerShare, completion: @escaping (Completion) -> Void) {
        switch storage {
        case .file(let file):
            file.complete { result in
                switch result {
                case .success(let hash): completion(Completion(hash: hash ?? self.hash, error: nil))
                case .failure(let error): completion(Completion(hash: nil, error: error))
                }
            }
        case .memory(let bytes):
            guard isHashed, hash == nil else { return completion(Completion(hash: hash, error: nil)) }
            store.compute(for: share, size: bytes.count, { SHA256Hash.of(bytes) }) { result in
                completion(Completion(hash: try? result.get(), error: nil))
            }
        }
    }

    /// Takes over what ``complete(_:share:completion:)`` came to. A body whose file cannot be kept is dropped.
    mutating func adopt(_ completion: Completion) throws(SessionError) {
        hash = completion.hash
        guard let error = completion.error else { return }
        discard()
        throw error
    }

    /// Makes a file of what is in memory, whatever its size; `nil` if it is in a file.
    func spilled(to spool: any BodySpool, owner: Request) throws(SessionError) -> (any SpoolFile)? {
        guard case .memory(let kept) = storage else { return nil }
        let file = try spool.makeFile(for: owner, isHashed: false)
        do throws(SessionError) {
            try ResponseBody.write(kept, to: file)
        } catch {
            file.discard()
            throw error
        }
        return file
    }

    /// Takes over a whole file of the same bytes.
    mutating func adopt(_ file: any SpoolFile) { storage = .file(file) }
}

/// Where large bodies are kept. The daemon has its spool; a program that embeds the session brings its own.
public protocol BodySpool: AnyObject {
    /// Makes a new, empty, unnamed file for the body of a request.
    /// - Parameter isHashed: whether the SHA-256 of what is written is wanted.
    func makeFile(for request: Request, isHashed: Bool) throws(SessionError) -> any SpoolFile
}

/// One body in the spool. Nothing here waits for a disk but ``contents()``: what is written is gathered, and a file that cannot be written fails
/// its request later (``Request/failToKeepBody(_:)``).
public protocol SpoolFile: AnyObject {
    /// Adds bytes at the end; fails when a quota is full.
    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError)
    /// Whether so much waits to be written that nothing more may come; ``Request/goOnKeepingBody()`` follows if so.
    var isFull: Bool { get }
    /// Has everything written, and gives the file its name: from then on it is whole and stays so. Returns the hash, if it is wanted.
    func complete(_ completion: @escaping (Result<[UInt8]?, SessionError>) -> Void)
    /// All of its bytes so far, whether it is complete or not; fails with ``SessionError/inputFileNil`` once it is removed, and with
    /// ``SessionError/inputFileReadFailed(path:reason:)``. Its caller has seen to it that they are not too many.
    func contents(_ completion: @escaping (Result<[UInt8], SessionError>) -> Void)
    /// The same for a whole file, now: blocks while it is read.
    func contents() throws(SessionError) -> [UInt8]
    /// Removes it, and gives back the room that it took.
    func discard()
    /// Its absolute path, once it is complete.
    var path: String? { get }
}
