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
    private var hasher: SHA256Hash?

    /// An empty body.
    /// - Parameter isHashed: whether the SHA-256 of what it will hold is wanted.
    public init(isHashed: Bool = false) { hasher = isHashed ? SHA256Hash() : nil }

    /// A body that is whole.
    init(_ file: any SpoolFile, count: Int64, hash: [UInt8]?) {
        storage = .file(file)
        self.count = count
        self.hash = hash
    }

    /// A body of which these bytes are kept: all of them, or none.
    init(_ bytes: [UInt8], count: Int64) {
        storage = .memory(bytes)
        self.count = count
    }

    /// Where its file lies, if it is in one that is whole.
    public var path: String? {
        if case .file(let file) = storage { return file.path }
        return nil
    }

    /// Counts bytes that somebody else takes; nothing of them is kept.
    mutating func pass(_ bytes: Int) { count &+= Int64(bytes) }

    /// Adds a piece; moves everything to a file when memory would hold more than the limit. A body that cannot be kept is dropped as a whole,
    /// so that it takes no room from others.
    mutating func append(_ bytes: UnsafeRawBufferPointer, memoryLimit: Int, spool: any BodySpool, owner: Request)
        throws(SessionError)
    {
        count &+= Int64(bytes.count)
        hasher?.update(bytes)
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
            let file = try spool.makeFile(for: owner)
            storage = .file(file)
            try ResponseBody.write(kept, to: file)
            try file.write(bytes)
        }
    }

    /// Moves what is in memory to a file, whatever its size. If that fails it stays in memory.
    public mutating func spill(to spool: any BodySpool, owner: Request) throws(SessionError) {
        guard case .memory(let kept) = storage else { return }
        let file = try spool.makeFile(for: owner)
        do throws(SessionError) {
            try ResponseBody.write(kept, to: file)
            try file.complete()
        } catch {
            file.discard()
            throw error
        }
        storage = .file(file)
    }

    /// Drops the bytes, where they cannot be kept; the count stays.
    public mutating func discard() {
        if case .file(let file) = storage { file.discard() }
        storage = .memory([])
    }

    /// All of its bytes, wherever they are.
    /// - Throws: `response_serialization_failed.input_too_large` if there are more than the limit, `.input_file_nil` if they were not kept, and
    ///   `.input_file_read_failed` if their file cannot be read.
    public func bytes(atMost limit: Int) throws(SessionError) -> [UInt8] {
        guard count <= Int64(limit) else { throw .inputTooLarge(count, limit: limit) }
        switch storage {
        case .file(let file): return try file.contents()
        case .memory(let bytes):
            guard bytes.count == count else { throw .inputFileNil }
            return bytes
        }
    }

    private static func write(_ bytes: [UInt8], to file: any SpoolFile) throws(SessionError) {
        try bytes.withUnsafeBufferPointer { kept throws(SessionError) in try file.write(UnsafeRawBufferPointer(kept)) }
    }

    /// Gives a file its final name; until then no one else can see it.
    mutating func complete() throws(SessionError) {
        if let hasher { hash = hasher.finish() }
        guard case .file(let file) = storage else { return }
        do throws(SessionError) {
            try file.complete()
        } catch {
            discard()
            throw error
        }
    }
}

/// Where large bodies are kept. The daemon has its spool; a program that embeds the session brings its own.
public protocol BodySpool: AnyObject {
    /// A new, empty, unnamed file for the body of a request.
    func makeFile(for request: Request) throws(SessionError) -> any SpoolFile
}

/// One body in the spool.
public protocol SpoolFile: AnyObject {
    /// Adds bytes at the end; fails when a quota or the disk is full.
    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError)
    /// Gives it its name: from now on it is whole and stays so.
    func complete() throws(SessionError)
    /// All of its bytes so far, whether it is complete or not; fails with ``SessionError/inputFileNil`` once it is removed, and with
    /// ``SessionError/inputFileReadFailed(path:reason:)``. Its caller has seen to it that they are not too many.
    func contents() throws(SessionError) -> [UInt8]
    /// Removes it, and gives back the room that it took.
    func discard()
    /// Its absolute path, once it is complete.
    var path: String? { get }
}
