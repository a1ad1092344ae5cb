internal import CarpoolSystem

/// The body of a response as it arrives: in memory while it is small, then in a spool file.
public struct ResponseBody {
    /// Where the bytes are stored.
    public enum Storage {
        /// In memory.
        case memory([UInt8])
        /// In a file.
        case file(any SpoolFile)
    }

    /// The current storage.
    public private(set) var storage: Storage = .memory([])
    /// The number of bytes.
    public private(set) var count: Int64 = 0

    /// The SHA-256 of its bytes, 32 bytes, once it is complete; `nil` if it was not requested.
    public private(set) var hash: [UInt8]?
    /// Whether the SHA-256 of its bytes is computed.
    private let isHashed: Bool

    /// An empty body.
    /// - Parameter isHashed: whether the SHA-256 of the bytes is computed.
    public init(isHashed: Bool = false) { self.isHashed = isHashed }

    /// A complete body.
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

    /// The path of its file, if it is in a complete one.
    public var path: String? {
        if case .file(let file) = storage { return file.path }
        return nil
    }

    /// Takes a complete file in place of pieces.
    mutating func adopt(_ file: any SpoolFile, count: Int64) {
        storage = .file(file)
        self.count = count
    }

    /// Counts bytes that a receiver takes; they are not kept here.
    mutating func pass(_ bytes: Int) { count &+= Int64(bytes) }

    /// Takes the number of bytes that a receiver has written, and their hash if there is one.
    mutating func adopt(written count: Int64, hash: [UInt8]?) {
        self.count = count
        if let hash { self.hash = hash }
    }

    /// Whether the transfer has to wait until more bytes are written.
    var isFull: Bool {
        if case .file(let file) = storage { return file.isFull }
        return false
    }

    /// Appends a piece; moves everything to a file when memory would hold more than the limit. A body that cannot be
    /// kept is dropped completely, so that it takes no room.
    mutating func append(_ bytes: UnsafeRawBufferPointer, memoryLimit: Int, spool: any BodySpool, owner: any BodyOwner)
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

    private mutating func keep(
        _ bytes: UnsafeRawBufferPointer, memoryLimit: Int, spool: any BodySpool, owner: any BodyOwner
    )
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

    /// Drops the bytes if they cannot be kept; the count stays.
    public mutating func discard() {
        if case .file(let file) = storage { file.discard() }
        storage = .memory([])
    }

    /// Returns all bytes, from memory or file. Blocks while a file is read: for programs that embed the session.
    /// - Throws: `response_serialization_failed.input_too_large` if there are more than the limit, `.input_file_nil` if
    ///   they were not kept, and `.input_file_read_failed` if their file cannot be read.
    public func bytes(atMost limit: Int) throws(SessionError) -> [UInt8] {
        if case .file(let file) = storage {
            guard count <= Int64(limit) else { throw .inputTooLarge(count, limit: limit) }
            return try file.contents()
        }
        return try keptBytes(atMost: limit)
    }

    /// Passes all bytes to the completion: at once if they are in memory.
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

// MARK: Completion
extension ResponseBody {
    /// Whether all of its bytes are in memory.
    public var isKeptInMemory: Bool {
        if case .memory(let bytes) = storage { return bytes.count == count }
        return false
    }

    /// Whether work is left when all bytes have arrived.
    var mustBeCompleted: Bool {
        if case .memory = storage { return isHashed && hash == nil }
        return true
    }

    /// The result of completing a body.
    struct Completion {
        /// The hash, if it was requested.
        let hash: [UInt8]?
        /// Why its file cannot be kept.
        let error: SessionError?
    }

    /// Writes and hashes everything, and renames a file to its final name; until then it is not visible to others.
    /// ``adopt(_:)`` takes the result.
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

    /// Takes the result of ``complete(_:share:completion:)``. A body whose file cannot be kept is dropped.
    mutating func adopt(_ completion: Completion) throws(SessionError) {
        hash = completion.hash
        guard let error = completion.error else { return }
        discard()
        throw error
    }

    /// Writes the bytes in memory to a file, whatever their size; `nil` if the body is in a file.
    func spilled(to spool: any BodySpool, owner: any BodyOwner) throws(SessionError) -> (any SpoolFile)? {
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

    /// Replaces the bytes with a complete file of the same bytes.
    mutating func adopt(_ file: any SpoolFile) { storage = .file(file) }
}
